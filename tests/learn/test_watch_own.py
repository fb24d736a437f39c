"""Looks that lean towards one robot: what it adds to the expected is found, and left-out episodes say how much remains."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Channel, Interface
from gapless.learn.watch_own import lean, spread
from gapless.nets.stored_watch import new_watch
from gapless.nets.watch import Look
from gapless.nets.watch_lean import Lean

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


def off_of(look: Look, features: np.ndarray, came: np.ndarray) -> np.ndarray:
    return np.asarray(jax.vmap(look.missed)(jnp.asarray(features), jnp.asarray(came)))


def test_what_a_robot_adds_is_found_and_taken_off(look: Look) -> None:
    features, came = episodes(look, 0.05)
    found = lean(look, features, came)
    assert np.all(found.left < 0.02)  # of squares near 4 and 0.25 noise of 0.0025 is left
    assert np.all(np.abs(spread([off_of(found.look, *rows) for rows in zip(features, came, strict=True)]) - 1) < 0.3)
    assert off_of(found.look, features[0], came[0] + 0.5).mean() > 5.0  # what was half a deviation is ten of these


def test_left_out_episodes_do_not_know_themselves(look: Look) -> None:
    features, came = episodes(look, 0.05)
    came[0] = came[0] + 3.0  # one episode that is not like the others
    off = lean(look, features, came).off
    assert np.abs(off[0]).mean() > 1.5 * np.abs(off[1]).mean()


def test_noise_alone_leaves_a_look_nearly_as_it_is(look: Look) -> None:
    rng = np.random.default_rng(1)
    features = [rng.normal(size=(60, len(look.shift))).astype(np.float32) for _ in range(6)]
    found = lean(look, features, [rng.normal(size=(60, 2)) for _ in features])
    assert np.all(found.left > 0.9)
    assert off_of(found.look, features[0], np.ones((60, 2))) == pytest.approx(np.ones((60, 2)), abs=0.3)


def test_a_motion_unlike_all_that_the_robot_showed_is_left_to_the_look(look: Look) -> None:
    features, came = episodes(look, 0.05)
    found, far, off = lean(look, features, came), 1e3 * np.eye(len(look.shift))[:1], np.array([[3.0, 3.0]])
    far = np.repeat(far, len(off), axis=0)
    assert off_of(found.look, far, off)[0, 1] == pytest.approx(3.0, abs=0.3)


def test_a_correction_goes_back_to_the_look_as_its_doubt_grows() -> None:
    # Half the doubt is usual: half of the correction of 2 is taken, and the variance is midway between 0.25 and 1.
    made = Lean(jnp.array([[2.0]]), jnp.array([[[2.0]]]), jnp.ones(1), jnp.full(1, 0.5))
    assert float(made(jnp.array([3.0]), jnp.ones((1, 1)))[0]) == pytest.approx((3 - 1) / np.sqrt(0.625))
    assert float(made(jnp.array([3.0]), 0.5 * jnp.ones((1, 1)))[0]) == pytest.approx((3 - 1) / 0.5)


def test_one_row_that_runs_away_counts_for_six_deviations() -> None:
    assert spread([np.array([[1.0], [1e9]])]) == pytest.approx([np.sqrt((1 + 36) / 2)])
