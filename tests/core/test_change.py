"""Changes within an episode: numbers that make sense, and how long nothing has changed yet."""

import math

import pytest

from gapless.core import Change, GaplessError
from gapless.tasks import HoldLoad, SwingUp


def test_an_episode_is_steady_until_the_earliest_change() -> None:
    assert HoldLoad().steady_s == min(c.from_s for c in HoldLoad.changes) == 1.2
    assert SwingUp().steady_s == math.inf


@pytest.mark.parametrize(
    "numbers",
    [(0.5, 0.1, 1.0, 2.0), (0.1, 0.5, 2.0, 1.0), (0.1, 0.5, 0.0, 1.0), (0.1, math.inf, 1.0, 2.0)],
)
def test_a_change_needs_a_range_and_a_time_after_the_start(numbers: tuple[float, float, float, float]) -> None:
    with pytest.raises(GaplessError, match=r"the change of 'payload.mass' needs"):
        Change("payload.mass", *numbers)
