"""Frozen measurements: those without an excuse stop the robot, and a robot that rests is left in peace."""

from typing import Any

import numpy as np
import pytest

from gapless.core import Channel, Interface, Signals
from gapless.robots import Gate, Limits

PERIOD_S = 0.02


def stopped_in(robot: Any, seen: Any, push: Any, limits: Limits | None = None, count: int = 60) -> int | None:
    """The period in which the gate stops a robot that measures `seen(k)` while `push(k)` is sent."""
    gate = Gate(robot, limits)
    robot.measured = lambda reads: seen(reads - 1)
    gate.connect()
    gate.reset(0)
    for k in range(count):
        gate.wait_until(k * PERIOD_S)
        gate.get_observation()
        gate.send_action({name: np.full(width, push(k)) for name, width in robot.interface.command_widths.items()})
        if gate.stopped:
            assert "frozen" in gate.stopped or "stale" in gate.stopped
            assert gate.spoiled == (limits or Limits()).frozen_samples
            return k
    return None


@pytest.fixture
def noisy() -> np.ndarray:
    return 0.01 * np.random.default_rng(0).standard_normal((60, 2))


def freezing(values: np.ndarray, at: int) -> Any:
    """Measurements that stay what they were in period `at`."""
    return lambda k: {"place": values[min(k, at)].copy()}


def test_a_noisy_sensor_that_repeats_itself_is_frozen_after_so_many_readings(fake_robot: Any, noisy: Any) -> None:
    assert stopped_in(fake_robot, freezing(noisy, 20), lambda k: 0.01) == 30


def test_the_number_of_readings_is_the_users(fake_robot: Any, noisy: Any) -> None:
    assert stopped_in(fake_robot, freezing(noisy, 20), lambda k: 0.01, Limits(frozen_samples=4)) == 24
    assert stopped_in(fake_robot, freezing(noisy, 20), lambda k: 0.01, Limits(frozen_samples=0)) is None


def test_a_perfect_sensor_of_a_robot_that_comes_to_rest_is_not_frozen(fake_robot: Any) -> None:
    moving = np.repeat(np.linspace(0, 1, 60)[:, None], 2, axis=1)
    assert stopped_in(fake_robot, freezing(moving, 20), lambda k: 0.1 if k < 20 else 0.0) is None


def test_a_perfect_sensor_of_a_robot_that_was_never_moved_is_not_frozen(fake_robot: Any) -> None:
    assert stopped_in(fake_robot, lambda k: {"place": np.zeros(2)}, lambda k: 0.0) is None


def test_a_robot_that_stands_still_while_it_is_pushed_is_frozen_or_blocked(fake_robot: Any) -> None:
    moving = np.repeat(np.repeat(np.linspace(0, 1, 20), 3)[:, None], 2, axis=1)  # a sensor slower than the loop
    steady = np.repeat(np.linspace(0, 1, 60)[:, None], 2, axis=1)
    assert stopped_in(fake_robot, lambda k: {"place": moving[k]}, lambda k: 0.5) is None
    assert stopped_in(fake_robot, freezing(steady, 20), lambda k: 0.5) == 30


def test_a_coarse_encoder_that_repeats_itself_now_and_then_is_not_frozen(fake_robot: Any) -> None:
    coarse = np.round(np.sin(np.arange(60) / 4), 1)[:, None].repeat(2, 1)
    assert stopped_in(fake_robot, lambda k: {"place": coarse[k]}, lambda k: 0.5) is None


class Servo:
    """Stands for a robot whose command is a place."""

    interface = Interface("servo", PERIOD_S, (Channel("goal", 1, "rad", -1.0, 1.0),), (Channel("angle", 1, "rad"),))


def test_holding_a_place_is_no_drive(fake_robot: Any) -> None:
    fake_robot.interface = Servo.interface
    fake_robot.send_action = lambda command: command
    settling = 0.5 - 0.5 * np.exp(-np.arange(60) / 4)
    settling = np.round(settling, 3)  # an encoder's counts: the last ones repeat
    assert stopped_in(fake_robot, lambda k: {"angle": settling[[k]]}, lambda k: 0.5) is None


class TwoSensors:
    """Stands for a robot with two sensors, one of which goes on."""

    interface = Interface(
        "pair", PERIOD_S, (Channel("push", 1, "N", -1.0, 1.0),), (Channel("one", 1, "m"), Channel("other", 1, "m"))
    )


def test_one_frozen_sensor_is_noticed_while_the_other_goes_on(fake_robot: Any, noisy: Any) -> None:
    fake_robot.interface = TwoSensors.interface
    fake_robot.send_action = lambda command: command

    def seen(k: int) -> Signals:
        return {"one": noisy[k, :1], "other": noisy[min(k, 20), 1:]}

    assert stopped_in(fake_robot, seen, lambda k: 0.0) == 30


def test_a_time_stamp_that_does_not_move_is_stale_even_at_rest(fake_robot: Any, noisy: Any) -> None:
    def seen(k: int) -> Signals:
        return {"place": noisy[k], "place.time": np.array([PERIOD_S * min(k, 20)])}

    assert stopped_in(fake_robot, seen, lambda k: 0.0) == 30


def test_time_stamps_that_move_now_and_then_are_not_stale(fake_robot: Any) -> None:
    def seen(k: int) -> Signals:
        return {"place": np.full(2, 0.01 * (k // 5)), "place.time": PERIOD_S * (k // 5 * 5)}

    assert stopped_in(fake_robot, seen, lambda k: 0.1) is None


@pytest.mark.parametrize(
    ("stamp", "says"),
    [
        (-1.0, "the time stamp of place went back by 1 s"),
        (np.nan, "the time stamp of place is nan"),
        ("noon", "the time stamp of place is 'noon'"),
    ],
)
def test_a_time_stamp_that_is_wrong_stops_the_robot(fake_robot: Any, stamp: Any, says: str) -> None:
    gate = Gate(fake_robot)
    gate.connect()
    gate.reset(0)
    fake_robot.measured = lambda k: {"place": np.zeros(2), "place.time": 0.0 if k == 1 else stamp}
    gate.get_observation()
    assert gate.stopped is None
    gate.get_observation()
    assert gate.stopped == says
