"""Logs cut into windows: end to end, and what there is of logs that ended early."""

from collections.abc import Callable

import numpy as np
import pytest

from gapless.core import Log
from gapless.learn.windows import WAIT_S, cut, cut_all
from gapless.simulators import MujocoSimulator

Collect = Callable[..., list[Log]]


def test_what_ended_early_is_a_window_of_what_there_is(pendulum: MujocoSimulator, collect: Collect) -> None:
    (whole,) = collect(1, seconds=2.0)
    short = whole.first(16)  # 0.32 s, where windows have half a second
    usual, found = (by(pendulum, [whole, short], 0.5) for by in (cut, cut_all))
    assert usual is not None and found is not None
    assert set(usual.which) == {0} and len(found) == len(usual) + 1
    mine = found.present[-1]
    assert found.which[-1] == 1 and found.begin_s[-1] >= WAIT_S - 1e-9
    assert 0 < mine.sum() < usual.present[0].sum()
    taken = short.measurement_time["hinge.position"]
    expected = short.measurements["hinge.position"][taken >= found.begin_s[-1] - 1e-9, 0]
    assert found.measured[-1][mine] == pytest.approx(expected)


def test_logs_that_are_all_short_make_no_windows(pendulum: MujocoSimulator, collect: Collect) -> None:
    assert cut_all(pendulum, [log.first(16) for log in collect(2)], 0.5) is None


def test_a_few_samples_are_no_window(pendulum: MujocoSimulator, collect: Collect) -> None:
    (whole,) = collect(1, seconds=2.0)
    found = cut_all(pendulum, [whole, whole.first(8)], 0.5)
    assert found is not None and np.all(found.which == 0)
