"""The laws of robots: verbs in their order, values in their place and limits, episodes that repeat where they can."""

from collections.abc import Iterator

import numpy as np

from ..robot import Robot
from ..signals import Signals
from .clock import keeps_time, stamps_measurements
from .handled import Handled
from .laws import Law, Note, Seen, findings, limit, misshapen, outside, unequal
from .speed import reads_in_time
from .units import reads_si_values


def check_robot(robot: Robot, repeatable: bool = False) -> list[str]:
    """What the robot does against its contract; it moves for a few periods and is left disconnected.

    `repeatable` says that an episode's number fixes its noise, as it does for robots that are simulated.
    """
    laws = [connects, measures, keeps_time, sends_within_limits]
    return findings([*laws, repeats_episodes, lets_go] if repeatable else [*laws, lets_go], Handled(robot))


def connects(handled: Handled) -> Iterator[str]:
    """The robot can be had, also by one who has it already.

    Let connect() take the machine and do nothing when it is taken: it is called before every episode.
    """
    handled.robot.connect()
    handled.robot.connect()
    yield Seen(f"{handled.robot.interface.robot} answers")


def measures(handled: Handled) -> Iterator[str]:
    """After connect and reset, measurements are finite and have the widths of the interface.

    Let get_observation return one array of shape (width,) for every measured channel.
    """
    handled.begin()
    seen = handled.robot.get_observation()
    yield from misshapen(seen, handled.robot.interface.measurements)
    yield Seen(", ".join(f"{c.name} {_spelled(seen, c.name)} {c.unit}" for c in handled.robot.interface.measurements))


def lets_go(handled: Handled) -> Iterator[str]:
    """Disconnecting twice is harmless, and the robot can be had again.

    Let disconnect() do nothing when there is nothing to let go.
    """
    handled.robot.disconnect()
    handled.robot.disconnect()
    handled.begin()
    yield from misshapen(handled.robot.get_observation(), handled.robot.interface.measurements)
    handled.robot.disconnect()


def has_limits(handled: Handled) -> Iterator[str]:
    """Every command has two finite limits, and every measurement limits at which the robot is stopped.

    Write low, high and, for measurements, rate into the channels of the robot's interface.
    """
    interface = handled.robot.interface
    for c in interface.commands:
        if not (np.isfinite(c.low) and np.isfinite(c.high) and c.low < c.high):
            yield f"{c.name} may be commanded from {c.low} to {c.high} {c.unit}"
    for c in interface.measurements:
        if not np.isfinite([c.low, c.high, c.rate]).any():
            yield Note(f"nothing stops the robot when {c.name} runs away: it has no limits")
    yield Seen(", ".join(f"{c.name} {c.low:g} to {c.high:g} {c.unit}" for c in interface.commands))


def is_inside(handled: Handled) -> Iterator[str]:
    """What the robot measures at rest lies inside its own limits.

    Move it there, or correct the limits, the zero or the unit of the channel.
    """
    handled.begin()
    seen, channels = handled.robot.get_observation(), handled.robot.interface.measurements
    yield from outside(seen, [c for c in channels if c.name in seen])


def sends_rest(handled: Handled) -> Iterator[str]:
    """Sending returns what was sent.

    Let send_action return a dict with one array of shape (width,) per commanded channel.
    """
    handled.begin()
    sent = handled.robot.send_action(handled.rest())
    yield from misshapen(sent, handled.robot.interface.commands)


def sends_within_limits(handled: Handled) -> Iterator[str]:
    """Sending returns what was sent, within the limits.

    Clip the command in send_action, and return what you clipped it to.
    """
    handled.begin()
    robot = handled.robot
    for share in (0.0, 0.1, 100.0, -100.0):
        asked: Signals = {c.name: np.full(c.width, share * limit(c, "high")) for c in robot.interface.commands}
        sent = robot.send_action(asked)
        yield from misshapen(sent, robot.interface.commands)
        yield from outside(sent, robot.interface.commands)
        robot.wait_until(robot.now() + robot.interface.period_s)


def repeats_episodes(handled: Handled) -> Iterator[str]:
    """An episode's number fixes its first measurement.

    Draw all chance from a generator that reset(episode) makes from the number.
    """
    seen = []
    for episode in (1, 1, 2):
        handled.begin(episode)
        seen.append(handled.robot.get_observation())
    yield from unequal("the two times", seen[:1], seen[1:2])
    if not list(unequal("", seen[:1], seen[2:])):
        yield "episodes 1 and 2 begin alike"


def _spelled(seen: Signals, name: str) -> str:
    values = np.asarray(seen.get(name, np.nan), np.float64).reshape(-1)
    return ", ".join(f"{v:.3g}" for v in values)


READ: dict[str, tuple[Law, ...]] = {
    "interface": (measures,),
    "units": (reads_si_values,),
    "limits": (has_limits, is_inside),
}
"""Laws for which nothing is moved and nobody waits."""
TIMED: dict[str, tuple[Law, ...]] = {"clock": (stamps_measurements,), "speed": (reads_in_time,)}
"""Laws that need a clock to be trusted."""
COMMANDED: dict[str, tuple[Law, ...]] = {"interface": (sends_rest,)}
"""Laws for which the robot is reset and told to rest."""
SIMULATED: dict[str, tuple[Law, ...]] = {"limits": (sends_within_limits,), "determinism": (repeats_episodes,)}
"""Laws that would be hard on a machine."""
