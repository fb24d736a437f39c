"""The laws of robots: verbs in their order, a clock that goes forward, values in their place and limits."""

from collections.abc import Iterator

import numpy as np

from ..robot import Robot
from ..signals import Signals
from .laws import findings, limit, misshapen, outside, unequal


def check_robot(robot: Robot, repeatable: bool = False) -> list[str]:
    """What the robot does against its contract; it moves for a few periods and is left disconnected.

    `repeatable` says that an episode's number fixes its noise, as it does for robots that are simulated.
    """
    laws = [_measures, _keeps_time, _sends_within_limits]
    return findings([*laws, _repeats_episode, _lets_go] if repeatable else [*laws, _lets_go], robot)


def _measures(robot: Robot) -> Iterator[str]:
    """After connect and reset, measurements are finite and have the widths of the interface."""
    robot.connect()
    robot.reset(0)
    yield from misshapen(robot.get_observation(), robot.interface.measurements)


def _keeps_time(robot: Robot) -> Iterator[str]:
    """Within an episode the clock never goes back, and waiting waits."""
    robot.reset(0)
    began = last = robot.now()
    for k in range(1, 4):
        wanted = began + k * robot.interface.period_s
        robot.wait_until(wanted)
        robot.get_observation()
        if robot.now() < last:
            yield f"it went from {last} s to {robot.now()} s"
        if robot.now() < wanted - 1e-6:
            yield f"it shows {robot.now()} s after waiting until {wanted} s"
        last = robot.now()


def _sends_within_limits(robot: Robot) -> Iterator[str]:
    """Sending returns what was sent, within the limits."""
    robot.reset(0)
    for share in (0.0, 0.1, 100.0, -100.0):
        asked: Signals = {c.name: np.full(c.width, share * limit(c, "high")) for c in robot.interface.commands}
        sent = robot.send_action(asked)
        yield from misshapen(sent, robot.interface.commands)
        yield from outside(sent, robot.interface.commands)
        robot.wait_until(robot.now() + robot.interface.period_s)


def _repeats_episode(robot: Robot) -> Iterator[str]:
    """An episode's number fixes its first measurement."""
    seen = []
    for episode in (1, 1, 2):
        robot.reset(episode)
        seen.append(robot.get_observation())
    yield from unequal("the two times", seen[:1], seen[1:2])
    if not list(unequal("", seen[:1], seen[2:])):
        yield "episodes 1 and 2 begin alike"


def _lets_go(robot: Robot) -> Iterator[str]:
    """Disconnecting twice is harmless, and the robot can be had again."""
    robot.disconnect()
    robot.disconnect()
    robot.connect()
    robot.reset(0)
    yield from misshapen(robot.get_observation(), robot.interface.measurements)
    robot.disconnect()
