"""One row per period: commands are held, measurements interpolated."""

import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Interface, Log
from gapless.logs import on_grid


def _log(sent, forces, taken, angles) -> Log:
    interface = Interface("robot", 0.1, (Channel("force"),), (Channel("angle"),))
    return Log(
        interface,
        {"force": np.array(forces, float)[:, None]},
        {"angle": np.array(angles, float)[:, None]},
        np.array(sent, float),
        {"angle": np.array(taken, float)},
    )


def test_commands_are_held_until_the_next_one():
    grid = on_grid(_log([0.0, 0.15, 0.3], [1, 2, 3], [0, 1], [0, 0]), 0.1)
    assert np.allclose(grid.command_time, [0, 0.1, 0.2, 0.3])
    assert grid.commands["force"][:, 0].tolist() == [1, 1, 2, 3]


def test_measurements_lie_on_straight_lines_and_are_held_at_the_ends():
    grid = on_grid(_log([0.0, 0.4], [1, 1], [0.1, 0.3], [10, 30]), 0.1)
    assert np.allclose(grid.measurements["angle"][:, 0], [10, 10, 20, 30, 30])
    assert np.array_equal(grid.measurement_time["angle"], grid.command_time)


def test_a_log_that_is_on_the_grid_already_stays_as_it_is():
    times = np.arange(50) * 0.1
    log = _log(times, np.sin(times), times, np.cos(times))
    grid = on_grid(log, 0.1)
    assert len(grid) == 50
    assert np.allclose(grid.commands["force"], log.commands["force"])
    assert np.allclose(grid.measurements["angle"], log.measurements["angle"])


def test_the_grid_is_the_new_period_of_the_interface():
    assert on_grid(_log([0, 1], [1, 1], [0, 1], [0, 0]), 0.25).interface.period_s == 0.25


def test_an_empty_log_stays_empty():
    assert len(on_grid(_log([], [], [], []), 0.1)) == 0


def test_a_channel_without_samples_cannot_be_aligned():
    with pytest.raises(GaplessError, match="channel 'angle' has no sample"):
        on_grid(_log([0, 1], [1, 1], [], []), 0.1)


@pytest.mark.parametrize("period_s", [0.0, -1.0, float("nan"), float("inf")])
def test_a_period_that_is_none_is_refused(period_s):
    with pytest.raises(GaplessError, match="must be positive"):
        on_grid(_log([0, 1], [1, 1], [0, 1], [0, 0]), period_s)
