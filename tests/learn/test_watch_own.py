"""Looks bent towards one robot: what it adds to the expected is found, and left-out episodes say how much remains."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Channel, Interface
from gapless.learn.watch_own import bend, spread
from gapless.nets.stored_watch import new_watch
from gapless.nets.watch import Look

MACHINE = Interface("machine", 0.1, (Channel("push", low=-1.0, high=1.0),), (Channel("x"), Channel("y")))


@pytest.fixture
def look() -> Look:
    """A look that reads its features as they are and expects nothing, give or take one unit."""
    found = new_watch(MACHINE, 2, (1,), (8, 1), jax.random.key(0)).looks[0]
    last = found.bent.layers[-1]
    assert last.bias is not None
    blank = (jnp.zeros_like(last.weight), jnp.zeros_like(last.bias), jnp.zeros_like(found.straight.weight))
    return eqx.tree_at(
        lambda v: (v.bent.layers[-1].weight, v.bent.layers[-1].bias, v.straight.weight, v.straight.bias),
        found,
        (*blank, jnp.zeros(2)),
    )


def episodes(look: Look, noise: float, count: int = 6) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Features, and changes that are twice the first feature in x and a constant 0.5 in y."""
    rng = np.random.default_rng(0)
    features = [rng.normal(size=(60, len(look.shift))).astype(np.float32) for _ in range(count)]
    came = [np.stack([2 * f[:, 0], np.full(60, 0.5)], axis=1) + noise * rng.normal(size=(60, 2)) for f in features]
    return features, came


def test_what_a_robot_adds_is_found_and_written_into_the_look(look: Look) -> None:
    features, came = episodes(look, 0.05)
    bent = bend(look, features, came)
    expected, deviation = jax.vmap(bent.look)(jnp.asarray(features[0]))
    assert np.asarray(expected) == pytest.approx(came[0], abs=0.3)
    assert np.asarray(deviation) == pytest.approx(np.zeros((60, 2)))  # how sure it is stays as it was
    before = spread([np.asarray(c) for c in came])
    assert np.all(spread(bent.off) < 0.08) and np.all(before > 0.4)


def test_left_out_episodes_do_not_know_themselves(look: Look) -> None:
    features, came = episodes(look, 0.05)
    came[0] = came[0] + 3.0  # one episode that is not like the others
    bent = bend(look, features, came)
    assert np.abs(bent.off[0]).mean() > 2.5


def test_noise_alone_leaves_a_look_nearly_as_it_is(look: Look) -> None:
    rng = np.random.default_rng(1)
    features = [rng.normal(size=(60, len(look.shift))).astype(np.float32) for _ in range(6)]
    bent = bend(look, features, [rng.normal(size=(60, 2)) for _ in features])
    expected, _ = jax.vmap(bent.look)(jnp.asarray(features[0]))
    assert np.abs(np.asarray(expected)).mean() < 0.1


def test_one_row_that_runs_away_counts_for_six_deviations() -> None:
    assert spread([np.array([[1.0], [1e9]])]) == pytest.approx([np.sqrt((1 + 36) / 2)])
