"""Knots: straight lines between them, a plan that moves along, and noise that is smooth in time."""

import jax
import numpy as np
import pytest

from gapless.train.planning.knots import coloured_noise, one_period_later, unrolled


def test_commands_lie_on_straight_lines_between_knots() -> None:
    # Three knots over five periods stand at periods 0, 2 and 4.
    assert unrolled(3, 5) @ np.array([0.0, 1.0, -1.0]) == pytest.approx([0.0, 0.5, 1.0, 0.0, -1.0])


def test_a_plan_with_a_knot_per_period_moves_along_exactly_and_holds_its_last_command() -> None:
    assert one_period_later(4, 4) @ np.array([1.0, 2.0, 3.0, 4.0]) == pytest.approx([2.0, 3.0, 4.0, 4.0])


def test_a_plan_of_few_knots_is_read_one_period_later() -> None:
    # Knots at periods 0, 2 and 4 are read at 1, 3 and, held, at 4.
    assert one_period_later(3, 5) @ np.array([0.0, 1.0, -1.0]) == pytest.approx([0.5, 0.0, -1.0])


@pytest.mark.parametrize("colour", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("knots", [16, 17])
def test_noise_of_any_colour_has_unit_variance(colour: float, knots: int) -> None:
    noise = np.asarray(coloured_noise(jax.random.key(0), 4000, (knots, 2), colour))
    assert noise.shape == (4000, knots, 2)
    assert noise.var(axis=0) == pytest.approx(np.ones((knots, 2)), abs=0.12)


def test_the_darker_the_colour_the_smoother_the_noise() -> None:
    steps = [
        np.diff(np.asarray(coloured_noise(jax.random.key(0), 500, (32, 1), c)), axis=1).std() for c in (0.0, 1.0, 2.0)
    ]
    assert steps[0] > 1.3 * steps[1] > 1.3 * 1.3 * steps[2]
