"""Held out are whole episodes, always the same ones, and never none when there are two."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapless.core import GaplessError
from gapless.logs import piece, split, split_each


def _numbers(logs) -> list[int]:
    return [log.source["episode"] for log in logs]


@pytest.fixture(scope="module")
def logs(make_log):
    return [make_log(3, episode=i) for i in range(12)]


def test_every_fourth_log_is_held_out(logs):
    train, held = split(logs)
    assert _numbers(held) == [3, 7, 11]
    assert _numbers(train) == [0, 1, 2, 4, 5, 6, 8, 9, 10]


@given(count=st.integers(2, 12), share=st.floats(0.01, 0.99))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_each_log_is_on_one_side_and_neither_side_is_empty(count, share, logs):
    train, held = split(logs[:count], share)
    assert train
    assert held
    assert sorted(_numbers(train) + _numbers(held)) == list(range(count))


def test_logs_added_later_move_none_across(logs):
    for count in range(4, 12):
        assert set(_numbers(split(logs[:count])[1])) <= set(_numbers(split(logs)[1]))


def test_of_two_logs_the_second_is_held_out(logs):
    assert _numbers(split(logs[:2])[1]) == [1]


def test_one_log_is_cut_in_time(make_log):
    log = make_log(40, samples=100)
    (first,), (last,) = split([log])
    assert (len(first), len(last)) == (30, 10)
    at = log.command_time[30]
    assert last.source["cut_from_s"] == at
    assert np.allclose(last.command_time, log.command_time[30:] - at)
    for name, clock in log.measurement_time.items():
        assert len(first.measurement_time[name]) == np.sum(clock < at)
        assert len(first.measurements[name]) + len(last.measurements[name]) == len(clock)
        assert np.all(last.measurement_time[name] >= 0)


def test_logs_cut_each_are_all_learnt_from_and_all_judged_by(make_log):
    logs = [make_log(40, samples=100, episode=0), make_log(40, samples=60, episode=1)]
    train, held = split_each(logs)
    assert _numbers(train) == _numbers(held) == [0, 1]
    assert [len(log) for log in train] == [30, 30] and [len(log) for log in held] == [10, 10]
    assert [len(log) for log in split([logs[0]])[0]] == [len(train[0])]


def test_what_ended_at_once_is_only_learnt_from_unless_nothing_else_judges(make_log):
    long, brief = make_log(200, samples=200), make_log(20, samples=20, episode=1)
    assert long.seconds > 1.0 > brief.seconds
    train, held = split_each([long, brief])
    assert [len(log) for log in train] == [150, 20] and [len(log) for log in held] == [50]
    assert [len(log) for log in split_each([brief])[1]] == [5]


@pytest.mark.parametrize("rows", [0, 1])
def test_one_log_without_motion_is_not_cut(rows, make_log):
    train, held = split([make_log(rows)])
    assert (len(train), len(held)) == (1, 0)


def test_a_piece_keeps_the_values_and_counts_from_its_start(make_log):
    log = make_log(10)
    middle = piece(log, float(log.command_time[2]), float(log.command_time[5]))
    assert np.array_equal(middle.commands["cart.force"], log.commands["cart.force"][2:5])
    assert middle.command_time[0] == 0.0


def test_a_log_with_a_channel_that_was_never_read_can_be_cut(make_log):
    log = make_log(8, samples=0)
    clockless = replace(log, measurement_time={"pole.angle": log.measurement_time["pole.angle"]})
    (first,), (_,) = split([clockless])
    assert first.measurements["cart.sensor"].shape == (0, 2)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_share_that_leaves_one_side_empty_is_refused(share, logs):
    with pytest.raises(GaplessError, match="between 0 and 1"):
        split(logs, share)


def test_no_logs_cannot_be_split():
    with pytest.raises(GaplessError, match="no logs to split"):
        split([])
