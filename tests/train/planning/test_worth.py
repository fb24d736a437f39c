"""What a candidate is worth, worked out by hand."""

from typing import Any

import jax.numpy as jnp
import pytest

from gapless.core import Task
from gapless.train.planning.worth import horizon_returns, over_draws


def returns(stay: Task, places: list[float], linger_s: float = 0.0, value: Any = None) -> float:
    measured = {"place": jnp.asarray(places)[:, None, None]}
    commands = {"motor": jnp.ones((len(places) - 1, 1, 1))}
    return float(horizon_returns(stay, measured, commands, 0.1, linger_s, value)[0])


def test_rewards_are_summed_over_the_horizon_in_seconds(stay: Task) -> None:
    # At 0.5 and 1.0, a metre per second each: (−0.25 − 0.25 − 0 − 0.25) × 0.1 s.
    assert returns(stay, [0.0, 0.5, 1.0]) == pytest.approx(-0.075)


def test_the_last_reward_goes_on_for_a_while(stay: Task) -> None:
    assert returns(stay, [0.0, 0.5, 1.0], linger_s=2.0) == pytest.approx(-0.075 - 2.0 * 0.25)


def test_what_comes_after_the_horizon_may_have_a_value(stay: Task) -> None:
    assert returns(stay, [0.0, 0.5, 1.0], value=lambda seen: 7 * seen["place"][..., 0]) == pytest.approx(6.925)


def test_nothing_counts_after_the_end(stay: Task) -> None:
    # The period that ends at 101 still counts, the next does not, and neither does anything that lingers.
    ends = returns(stay, [0.0, 101.0, 1.0], linger_s=3.0, value=lambda seen: 7 * seen["place"][..., 0])
    assert ends == pytest.approx(-0.1 * (100.0**2 + 0.25))


def test_a_candidate_is_worth_the_mean_of_its_draws_less_its_caution() -> None:
    each = jnp.array([1.0, 3.0, 0.0, 0.0])
    assert over_draws(each, 2, 0.0) == pytest.approx([2.0, 0.0])
    assert over_draws(each, 2, 0.5) == pytest.approx([1.5, 0.0])


def test_a_world_that_breaks_counts_as_the_worst() -> None:
    assert over_draws(jnp.array([1.0, jnp.nan, -2.0]), 1, 0.0) == pytest.approx([1.0, -2.0, -2.0])
