"""The safety gate: nothing outside the limits passes, whatever the policy sends and whatever the robot measures."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapless.core import Signals
from gapless.robots import Gate, Limits

NUMBERS = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.floats(-3, 3))
VALUES = st.one_of(
    st.lists(NUMBERS, max_size=4),
    NUMBERS,
    st.none(),
    st.just("full speed"),
    st.just([[1.0], [2.0]]),
    st.just([[1.0, 2.0], [3.0]]),
)
PROPER = st.fixed_dictionaries({"push": st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=2)})
COMMANDS = st.one_of(PROPER, st.none(), st.dictionaries(st.sampled_from(["push", "pull"]), VALUES))
SAFE = st.just({"place": [0.0, 0.0]})
MEASUREMENTS = st.one_of(SAFE, st.dictionaries(st.just("place"), st.one_of(NUMBERS, st.lists(NUMBERS, max_size=3))))
WILD = st.lists(st.tuples(COMMANDS, MEASUREMENTS, st.floats(0, 0.15)), min_size=1, max_size=12)
TAME = st.lists(st.tuples(PROPER, SAFE, st.floats(0, 0.09)), min_size=2, max_size=12)
REST = [0.0, 0.0]


def gated(robot: Any, limits: Limits | None = None) -> Gate:
    gate = Gate(robot, limits)
    gate.connect()
    gate.reset(0)
    return gate


@settings(
    derandomize=True,
    deadline=None,
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # each example makes a robot of its own
)
@given(steps=st.one_of(TAME, WILD))
def test_no_command_leaves_the_gate_outside_its_limits(fake_robot: Any, steps: list) -> None:
    robot = type(fake_robot)()
    gate = gated(robot)
    for command, measured, pause_s in steps:
        robot.measured = lambda _, m=measured: m
        gate.wait_until(gate.now() + pause_s)
        gate.get_observation()
        gate.send_action(command)
    (channel,) = robot.interface.commands
    before = -0.02, np.zeros(2)
    for time_s, sent in robot.sent:
        push = np.asarray(sent["push"])
        assert push.shape == (2,) and np.isfinite(push).all()
        assert (push >= channel.low).all() and (push <= channel.high).all()
        if push.tolist() != REST:
            assert (np.abs(push - before[1]) <= channel.rate * (time_s - before[0]) + 1e-9).all()
        before = time_s, push


def test_a_command_within_all_limits_passes_unchanged(fake_robot: Any) -> None:
    gate = gated(fake_robot)
    assert gate.send_action({"push": [0.2, -0.1]})["push"].tolist() == [0.2, -0.1]
    assert gate.stopped is None


def test_a_command_is_cut_to_its_limits_and_then_to_its_rate(fake_robot: Any) -> None:
    gate = gated(fake_robot)
    pushes = []
    for k in range(12):
        gate.wait_until(0.02 * k)
        pushes.append(gate.send_action({"push": [9.0, -9.0]})["push"])
    # 10 per second leave 0.2 in 20 ms, from rest on.
    assert np.array(pushes)[:, 0] == pytest.approx(np.minimum(0.2 * np.arange(1, 13), 2.0))
    assert np.array(pushes)[:, 1] == pytest.approx(np.maximum(-0.2 * np.arange(1, 13), -1.0))


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ({"push": [np.nan, 0.0]}, "the policy commanded [nan, 0.0] for push"),
        ({"push": [0.0, np.inf]}, "the policy commanded [0.0, inf] for push"),
        ({"push": [0.0]}, "the policy gave no command of width 2 for push"),
        ({"pull": [0.0, 0.0]}, "the policy gave no command of width 2 for push"),
        (None, "the policy gave no command of width 2 for push"),
    ],
)
def test_a_command_that_is_none_stops_the_robot(fake_robot: Any, command: Any, says: str) -> None:
    gate = gated(fake_robot)
    gate.send_action({"push": [0.5, 0.5]})
    assert gate.send_action(command)["push"].tolist() == REST
    assert gate.stopped == says


@pytest.mark.parametrize(
    ("measured", "says"),
    [
        ({}, "the robot did not measure place"),
        ({"place": [np.nan, 0.0]}, "the robot measured [nan, 0.0] for place"),
        ({"place": [0.0]}, "the robot measured [0.0] for place"),
        ({"place": [5.1, 0.0]}, "place is [5.1, 0.0], outside -5.0 to 5.0 m"),
        ({"place": [0.0, -7.0]}, "place is [0.0, -7.0], outside -5.0 to 5.0 m"),
        ({"place": ["here", 0.0]}, "the robot measured no numbers for place"),
        (None, "the robot measured nothing (its driver returned NoneType)"),
    ],
)
def test_a_measurement_that_is_not_safe_stops_the_robot(fake_robot: Any, measured: Signals, says: str) -> None:
    gate = gated(fake_robot)
    gate.get_observation()
    fake_robot.measured = lambda _: measured
    gate.get_observation()
    assert gate.stopped == says
    assert gate.send_action({"push": [1.0, 1.0]})["push"].tolist() == REST


def test_a_measured_speed_beyond_its_limit_stops_the_robot(fake_robot: Any) -> None:
    gate = gated(fake_robot)
    fake_robot.measured = lambda k: {"place": np.array([0.0, 1.2 * k])}  # 1.2 m in 20 ms: 60 m/s
    for k in range(3):
        assert gate.stopped is None
        gate.wait_until(0.02 * (k + 1))
        gate.get_observation()
    assert gate.stopped == "place moves at 60 m/s, the limit is 50"


def test_one_jump_of_noise_does_not_look_like_speed(fake_robot: Any) -> None:
    gate = gated(fake_robot)
    fake_robot.measured = lambda k: {"place": np.array([1.5 if k == 4 else 0.0, 0.0])}
    for k in range(9):
        gate.wait_until(0.02 * (k + 1))
        gate.get_observation()
    assert gate.stopped is None


def test_the_watchdog_stops_a_robot_that_was_left_alone(fake_robot: Any) -> None:
    gate = gated(fake_robot, Limits(watchdog_s=0.05))
    gate.send_action({"push": [1.0, 1.0]})
    gate.wait_until(0.051)
    assert gate.send_action({"push": [1.0, 1.0]})["push"].tolist() == REST
    assert gate.stopped == "no command for 0.051 s, the watchdog allows 0.05 s"


def test_the_watchdog_does_not_bark_at_a_slow_robots_own_period(fake_robot: Any) -> None:
    fake_robot.interface = dataclasses.replace(fake_robot.interface, period_s=0.5)
    gate = gated(fake_robot)
    for k in range(4):
        gate.wait_until(0.5 * k)
        gate.send_action({"push": [0.1, 0.1]})
    assert gate.stopped is None


def test_after_a_stop_only_rest_is_sent_and_the_first_reason_stays(fake_robot: Any) -> None:
    gate = gated(fake_robot)
    gate.stop("the user said so")
    for _ in range(3):
        gate.send_action({"push": [np.nan, 1.0]})
        gate.wait_until(gate.now() + 0.02)
    assert [sent["push"].tolist() for _, sent in fake_robot.sent] == [REST] * 3
    assert gate.stopped == "the user said so"


def test_a_reset_lets_the_robot_move_again(fake_robot: Any) -> None:
    gate = gated(fake_robot)
    gate.stop("the user said so")
    gate.reset(1)
    assert gate.send_action({"push": [0.1, 0.1]})["push"].tolist() == [0.1, 0.1]
    assert gate.stopped is None


def test_rest_is_the_command_nearest_to_zero(fake_robot: Any) -> None:
    assert gated(fake_robot).rest()["push"].tolist() == REST
