"""Errors of forecasts: worked out by hand, and least for honest clouds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.learn.contact.scores import central, energy, off
from gapless.simulators.rigid.play import Seen


def _seen(place: tuple[float, float, float], turn: float, time: int = 4) -> Seen:
    q = (np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2))
    return Seen(*(jnp.tile(jnp.asarray(v, jnp.float32)[None, :, None], (time, 1, 1)) for v in (place, q)))


def test_errors_are_means_over_the_throws_own_time() -> None:
    truth, found = _seen((0, 0, 0), 0.0), _seen((3, 4, 0), 0.5)
    found = found._replace(position=found.position.at[2:].set(100.0))
    missed = off(found, truth, jnp.array([2]))
    assert float(missed.distance_m[0]) == pytest.approx(5.0, rel=1e-5)
    assert float(missed.angle_rad[0]) == pytest.approx(0.5, abs=1e-3)


def test_the_sign_of_a_quaternion_does_not_count() -> None:
    truth = _seen((0, 0, 0), 0.3)
    assert float(off(truth._replace(quaternion=-truth.quaternion), truth, jnp.array([4])).angle_rad[0]) < 2e-3


def test_the_middle_of_a_cloud_ignores_a_stray() -> None:
    parts = [_seen((x, 0, 0), a) for x, a in ((0, 0), (0.1, 0.1), (0.2, 0.2), (90, 3.0))]
    middle = central(jax.tree.map(lambda *x: jnp.stack(x), *parts))
    assert 0.09 < float(middle.position[0, 0, 0]) < 0.21
    assert 2 * np.arccos(float(middle.quaternion[0, 0, 0])) == pytest.approx(0.1, abs=0.11)


def test_an_honest_cloud_has_the_least_energy_score() -> None:
    keys = jax.random.split(jax.random.key(0), 2)
    turn = jnp.tile(jnp.array([1.0, 0, 0, 0])[None, :, None], (1, 1, 400))
    truth = Seen(jax.random.normal(keys[0], (1, 3, 400)), turn)
    drawn = jax.random.normal(keys[1], (16, 1, 3, 400))
    cloud = lambda spread: Seen(spread * drawn, jnp.tile(turn[None], (16, 1, 1, 1)))  # noqa: E731
    narrow, honest, wide = (float(energy(cloud(s), truth, jnp.ones(400)).distance_m.mean()) for s in (0.3, 1.0, 2.5))
    assert honest < narrow and honest < wide
