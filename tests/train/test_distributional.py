"""Distributions over atoms, by hand: what is shifted splits between two atoms, and ends keep what lies beyond."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.train.critics import Ahead, Critic, followed_by, judged, logits, new_critics, targets
from gapless.train.distributional import atoms, bounds, cross_entropy, mean, projected

AT = jnp.array([0.0, 1.0, 2.0, 3.0])
ENDS = AT[0], AT[-1]


def test_a_shifted_atom_splits_by_its_distance_between_two() -> None:
    certain = jnp.array([[0.0, 1.0, 0.0, 0.0]])
    assert np.asarray(projected(certain, AT[None] + 0.25, ENDS))[0] == pytest.approx([0.0, 0.75, 0.25, 0.0])


def test_what_lies_beyond_an_end_goes_to_it() -> None:
    halves = jnp.array([[0.5, 0.0, 0.0, 0.5]])
    assert np.asarray(projected(halves, AT[None] + 1.5, ENDS))[0] == pytest.approx([0.0, 0.25, 0.25, 0.5])
    assert np.asarray(projected(halves, AT[None] - 9.0, ENDS))[0] == pytest.approx([1.0, 0.0, 0.0, 0.0])


def test_a_reward_and_a_discount_move_the_mean_by_as_much() -> None:
    spread = jnp.array([[0.1, 0.2, 0.3, 0.4]])
    moved = projected(spread, 0.3 + 0.9 * AT[None], ENDS)
    assert float(moved.sum()) == pytest.approx(1.0)
    assert float(moved[0] @ AT) == pytest.approx(0.3 + 0.9 * 2.0)


def test_all_places_in_one_atom_leave_all_probability_there() -> None:
    spread = jnp.array([[0.1, 0.2, 0.3, 0.4]])
    assert np.asarray(projected(spread, jnp.full((1, 4), 2.0), ENDS))[0] == pytest.approx([0, 0, 1, 0], abs=1e-6)


def test_no_return_lies_beyond_the_bounds() -> None:
    low, high = bounds(jnp.array(-0.2), jnp.array(1.0), 0.9)
    assert (float(low), float(high)) == pytest.approx((-2.0, 10.0))
    assert float(bounds(jnp.array(0.5), jnp.array(1.0), 0.9)[0]) == 0.0
    assert np.asarray(atoms(low, high, 4)) == pytest.approx([-2.0, 2.0, 6.0, 10.0])


def test_the_mean_and_the_surprise_of_logits() -> None:
    said = jnp.log(jnp.array([0.5, 0.25, 0.25, 1e-9]))
    assert float(mean(said, AT)) == pytest.approx(0.75)
    assert float(cross_entropy(jnp.array([1.0, 0.0, 0.0, 0.0]), said)) == pytest.approx(np.log(2))


class Stated(Critic):
    """A critic that says the same of everything."""

    said: jnp.ndarray

    def __init__(self, said: list[list[float]]) -> None:
        self.said, self.layers, self.calm, self.out = jnp.asarray(said), (), (), None  # type: ignore[assignment]

    def __call__(self, known: jnp.ndarray, unit: jnp.ndarray) -> jnp.ndarray:
        return jnp.broadcast_to(self.said, (*known.shape[:-1], *self.said.shape))


def test_the_pessimist_believes_the_lower_critic_for_both() -> None:
    sure = 50.0 * jnp.eye(4)
    both = Stated([sure[3].tolist(), sure[1].tolist()])
    known, unit = jnp.zeros((1, 2)), jnp.zeros((1, 1))
    ahead = Ahead(jnp.array([1.0]), jnp.array([0.5]), known, unit, jnp.zeros(1))
    assert float(judged(both, known, unit, AT, True)[0]) == pytest.approx(1.0)
    assert float(judged(both, known, unit, AT, False)[0]) == pytest.approx(2.0)
    # 1 + 0.5 · 1 lies in the middle between two atoms, and so does 1 + 0.5 · 3.
    lower, higher = [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.5, 0.5]
    assert np.asarray(targets(both, ahead, AT, True))[:, 0] == pytest.approx(np.array([lower, lower]), abs=1e-6)
    assert np.asarray(targets(both, ahead, AT, False))[:, 0] == pytest.approx(np.array([higher, lower]), abs=1e-6)


def test_a_bonus_is_part_of_what_comes_after_and_ends_with_it() -> None:
    both = Stated((50.0 * jnp.eye(4))[jnp.array([1, 1])].tolist())
    known, unit = jnp.zeros((2, 2)), jnp.zeros((2, 1))
    ahead = Ahead(jnp.ones(2), jnp.array([0.5, 0.0]), known, unit, jnp.full(2, 1.0))
    expected = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    assert np.asarray(targets(both, ahead, AT, True))[0] == pytest.approx(expected, abs=1e-6)


def test_two_critics_begin_differently_and_slow_ones_follow() -> None:
    both = new_critics((3, 4), (8, 2), jax.random.key(0))
    said = np.asarray(logits(both, jnp.ones((5, 2)), jnp.ones((5, 1))))
    assert said.shape == (2, 5, 4)
    assert not np.allclose(said[0], said[1])
    assert float(followed_by(jnp.array(1.0), jnp.array(3.0), 0.25)) == 1.5
