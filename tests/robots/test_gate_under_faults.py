"""Robots that fail: whatever a driver does, the gate stops it within the period, sends rest, and says why."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Interface
from gapless.robots import Gate, Limits

PERIOD_S = 0.02
REST = [0.0, 0.0]
PUSH = {"push": np.array([0.15, 0.15])}


def gated(robot: Any, limits: Limits | None = None) -> Gate:
    gate = Gate(robot, limits)
    gate.connect()
    gate.reset(0)
    return gate


def periods(gate: Gate, count: int, command: Any = PUSH) -> int:
    """Control the robot for some periods; returns how many of them passed before it was stopped."""
    began = gate.now()
    for k in range(count):
        gate.wait_until(began + k * PERIOD_S)
        gate.get_observation()
        gate.send_action(command(k) if callable(command) else command)
        if gate.stopped:
            return k
    return count


def fails(robot: Any, verb: str, after: int, how: Callable[[], Any]) -> None:
    """From the call of that number on, `verb` does `how` first."""
    usual, calls = getattr(robot, verb), iter(range(10**6))

    def call(*arguments: Any) -> Any:
        if next(calls) >= after:
            how()
        return usual(*arguments)

    setattr(robot, verb, call)


def raises(error: Exception) -> Callable[[], Any]:
    def how() -> None:
        raise error

    return how


@pytest.mark.parametrize(
    ("verb", "does"),
    [
        ("get_observation", "measure"),
        ("send_action", "take a command"),
        ("wait_until", "wait"),
        ("now", "tell the time"),
    ],
)
@pytest.mark.parametrize("error", [ConnectionError("the cable\nis out"), KeyError(3), GaplessError("it is gone")])
def test_whatever_a_driver_raises_becomes_a_stop(fake_robot: Any, verb: str, does: str, error: Exception) -> None:
    gate = gated(fake_robot)
    fails(fake_robot, verb, 12, raises(error))
    assert periods(gate, 30) <= 12
    spelled = {"ConnectionError": "ConnectionError: the cable is out", "KeyError": "KeyError: 3"}
    said = spelled.get(type(error).__name__, "it is gone")
    assert gate.stopped == f"the robot did not answer when it was to {does}: {said}"
    assert gate.lost


def test_rest_is_tried_at_once_when_a_command_was_not_taken(fake_robot: Any) -> None:
    gate, tried = gated(fake_robot), []
    fake_robot.send_action = lambda command: tried.append(command["push"].tolist()) or raises(OSError())()
    assert gate.send_action(PUSH) == {}
    assert tried == [[0.15, 0.15], REST]


def test_ctrl_c_in_a_driver_is_nobodys_fault_and_passes(fake_robot: Any) -> None:
    gate = gated(fake_robot)
    fails(fake_robot, "get_observation", 0, lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        gate.get_observation()


@pytest.mark.parametrize("verb", ["connect", "reset", "disconnect"])
def test_a_robot_that_is_gone_between_episodes_is_one_sentence(fake_robot: Any, verb: str) -> None:
    gate = Gate(fake_robot)
    fails(fake_robot, verb, 0, raises(TimeoutError("no reply")))
    says = (
        rf"'point' did not answer to {verb} \(TimeoutError: no reply\)\. Nothing is lost: .* the same command again\."
    )
    with pytest.raises(GaplessError, match=says):
        getattr(gate, verb)(*([0] if verb == "reset" else []))


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        ("get_observation", "the robot took 0.150 s to measure, 0.02 s are allowed"),
        ("send_action", "the robot took 0.150 s to take a command, 0.02 s are allowed"),
        # Of the 0.15 s, a period is what it was asked to wait.
        ("wait_until", "the loop is 0.130 s behind its clock, the watchdog allows 0.1 s"),
    ],
)
def test_a_robot_that_answers_late_is_stopped_within_the_period(fake_robot: Any, verb: str, says: str) -> None:
    gate = gated(fake_robot)

    def sleeps() -> None:
        fake_robot._time_s += 0.15

    fails(fake_robot, verb, 5, sleeps)
    assert periods(gate, 30) == 5
    assert gate.stopped == says
    assert fake_robot.sent[-1][1]["push"].tolist() == REST


def test_patience_with_late_answers_can_be_had(fake_robot: Any) -> None:
    gate = gated(fake_robot, Limits(late_periods=3.0))

    def sleeps() -> None:
        fake_robot._time_s += 0.03 if fake_robot._reads == 5 else 0.0

    fails(fake_robot, "get_observation", 0, sleeps)
    assert periods(gate, 30) == 30


def test_a_loop_that_falls_behind_its_clock_is_stopped(fake_robot: Any) -> None:
    gate = gated(fake_robot)

    def thinks(k: int) -> Any:
        fake_robot._time_s += 0.045  # 25 ms too long for each period
        return PUSH

    assert periods(gate, 30, thinks) == 5
    assert gate.stopped == "the loop is 0.125 s behind its clock, the watchdog allows 0.1 s"


def test_one_hiccup_of_a_busy_computer_stops_nothing(fake_robot: Any) -> None:
    gate = gated(fake_robot)

    def thinks(k: int) -> Any:
        fake_robot._time_s += 0.045 if k == 4 else 0.0
        return PUSH

    assert periods(gate, 30, thinks) == 30


@pytest.mark.parametrize(
    ("clock", "says"),
    [
        (lambda: 0.0, "the robot's clock went from 0.100 s to 0.000 s"),
        (lambda: float("nan"), "the robot's clock went from 0.100 s to nan s"),
        (lambda: 0.1, "the robot's clock shows 0.100 s after waiting until 0.120 s"),
    ],
)
def test_a_clock_that_breaks_stops_the_robot(fake_robot: Any, clock: Callable[[], float], says: str) -> None:
    gate = gated(fake_robot)
    periods(gate, 6)
    fake_robot.now = clock
    gate.wait_until(0.12)
    assert gate.stopped == says


def test_a_robot_that_starts_outside_its_limits_is_not_moved(fake_robot: Any) -> None:
    fake_robot.measured = lambda k: {"place": np.array([5.1, 0.0])}
    gate = gated(fake_robot)
    assert gate.send_action(PUSH)["push"].tolist() == REST
    assert gate.stopped == (
        "the robot starts outside its limits: place is [5.1, 0.0] m, allowed are -5.0 to 5.0 m; "
        "move it there by hand and try again"
    )


def test_the_first_command_leaves_rest_no_faster_than_its_rate(fake_robot: Any) -> None:
    assert gated(fake_robot).send_action({"push": [2.0, -1.0]})["push"] == pytest.approx([0.2, -0.2])


def test_a_stop_does_not_wait_for_the_rate(fake_robot: Any) -> None:
    gate = gated(fake_robot)
    periods(gate, 10, {"push": [2.0, -1.0]})
    gate.stop("enough")
    assert gate.send_action(PUSH)["push"].tolist() == REST


def test_a_policy_may_push_against_a_limit_as_long_as_it_is_let(fake_robot: Any) -> None:
    full, patient, strict = {"push": [2.0, 0.0]}, gated(fake_robot), Limits(saturated_s=0.1)
    assert periods(patient, 50, full) == 50
    assert patient.saturated == 1.0
    gate = gated(type(fake_robot)(), strict)
    assert periods(gate, 50, full) == 6
    assert gate.stopped == "the policy has pushed against a limit for 0.12 s, 0.1 are allowed"


def test_time_at_a_limit_counts_without_a_break_only(fake_robot: Any) -> None:
    gate = gated(fake_robot, Limits(saturated_s=0.1))
    assert periods(gate, 50, lambda k: {"push": [2.0 if k % 4 else 0.0, 0.0]}) == 50
    assert gate.saturated == pytest.approx(37 / 50)


@pytest.mark.parametrize("reply", [None, "thanks", {"push": "done"}, {"push": [np.nan, 0.0]}, {"push": [1.0]}, 3])
def test_a_driver_may_reply_anything_to_a_command(fake_robot: Any, reply: Any) -> None:
    gate = gated(fake_robot)
    fake_robot.send_action = lambda command: reply
    assert gate.send_action(PUSH)["push"].tolist() == [0.15, 0.15]
    assert gate.stopped is None


def test_a_driver_cannot_change_what_the_gate_remembers(fake_robot: Any) -> None:
    gate = gated(fake_robot)

    def spoils(command: Any) -> Any:
        command["push"][:] = 2.0
        return command

    fake_robot.send_action = spoils
    gate.send_action(PUSH)
    gate.wait_until(0.02)
    fake_robot.send_action = lambda command: command
    assert gate.send_action({"push": [2.0, 2.0]})["push"] == pytest.approx([0.35, 0.35])


@pytest.mark.parametrize(
    "given", [{"watchdog_s": 0.0}, {"late_periods": -1.0}, {"rate_samples": 1}, {"frozen_samples": -1}]
)
def test_limits_that_make_no_sense_are_refused(given: dict) -> None:
    with pytest.raises(GaplessError, match="limits need"):
        Limits(**given)


@pytest.fixture
def servo(fake_robot: Any) -> Any:
    """A joint that is told where to be, and measured under the same name; it stands at 0.8 rad."""
    goal = Channel("elbow", 1, "rad", -2.0, 2.0, rate=5.0)
    fake_robot.interface = Interface("servo", PERIOD_S, (goal,), (Channel("elbow.position", 1, "rad"),))
    fake_robot.measured = lambda k: {"elbow.position": np.array([0.8 + 1e-6 * k])}
    fake_robot.send_action = lambda command: fake_robot.sent.append((fake_robot.now(), command)) or command
    return fake_robot


def test_a_place_is_approached_from_where_the_robot_is(servo: Any) -> None:
    # 5 rad/s leave 0.1 rad in 20 ms.
    assert gated(servo).send_action({"elbow": [0.0]})["elbow"] == pytest.approx([0.7], abs=1e-4)


def test_a_robot_that_is_told_where_to_be_stops_where_it_was_told(servo: Any) -> None:
    gate = gated(servo)
    periods(gate, 3, {"elbow": [1.5]})
    gate.stop("enough")
    assert gate.send_action({"elbow": [1.5]})["elbow"] == pytest.approx([1.1], abs=1e-4)
    assert gate.rest()["elbow"] == pytest.approx([1.1], abs=1e-4)


def test_a_robot_that_is_told_where_to_be_is_sent_nothing_before_it_is_known_where_it_is(servo: Any) -> None:
    servo.measured = lambda k: {}
    gate = gated(servo)
    assert gate.send_action({"elbow": [0.0]}) == {}
    assert servo.sent == []
    assert gate.stopped == "the robot did not measure elbow.position"
