"""Which logs a fit may see and which it is judged by, where they come one by one."""

import numpy as np
import pytest

from gapless.core import Log, on_one_clock
from gapless.engine.usable import parted
from gapless.robots.cartpole import INTERFACE


def log_of(rows: int) -> Log:
    values = np.arange(rows, dtype=float)[:, None]
    commands = dict.fromkeys(INTERFACE.command_names, values)
    measured = dict.fromkeys(INTERFACE.measurement_names, values)
    return on_one_clock(INTERFACE, commands, measured, np.arange(rows) * INTERFACE.period_s)


@pytest.mark.parametrize(
    ("rows", "held_out"),
    [
        ([200, 200, 200], [50, 50, 50]),  # too few to hold out a whole one
        ([200, 200, 200, 200], [200]),
        ([200, 200, 30, 30], [50, 50]),  # the fourth ended at once, and would be all that is judged by
    ],
)
def test_logs_are_cut_while_whole_ones_held_out_would_judge_little(rows: list[int], held_out: list[int]) -> None:
    found = parted([log_of(n) for n in rows], one_by_one=True)
    assert [len(log) for log in found.held_out] == pytest.approx(held_out, abs=1)


def test_logs_that_were_not_recorded_one_by_one_are_held_out_whole() -> None:
    assert [len(log) for log in parted([log_of(n) for n in (200, 200, 30, 30)], one_by_one=False).held_out] == [30]
