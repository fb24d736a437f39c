"""The laws of agreement: robot, model and task speak of the same channels, in the same order, at the same pace."""

import math
from collections.abc import Iterator

import jax
import numpy as np

from ..interface import Channel, Interface
from ..signals import Signals
from ..simulator import Simulator
from ..task import Task
from .handled import Handled
from .laws import Note, Seen, outside

STARTS = 64
FAR = 0.25
"""How far, in SI units, beyond three times their spread a start may be from those of the task."""


def same_channels(robot: Interface, model: Interface) -> Iterator[str]:
    """Robot and model have the same channels, of the same width and in the same order.

    Name the model's actuators and sensors as the robot's channels, in its order, or the other way round.
    """
    for kind in ("commands", "measurements"):
        mine, theirs = getattr(robot, kind), getattr(model, kind)
        names, known = [c.name for c in mine], [c.name for c in theirs]
        yield from (f"the robot's {kind} lack {n}, which the model has" for n in known if n not in names)
        yield from (f"the model's {kind} lack {n}, which the robot has" for n in names if n not in known)
        if sorted(names) == sorted(known) and names != known:
            yield f"the robot's {kind} come as {', '.join(names)} and the model's as {', '.join(known)}"
        yield from _unlike_widths(mine, theirs)
    yield Seen(", ".join(robot.command_names + robot.measurement_names))


def same_joints(robot: Interface, model: Interface) -> Iterator[str]:
    """Robot and model list the joints in the same order.

    Put `joints` of the robot's interface, and with it what its vectors list, into the model's order.
    """
    if robot.joints and robot.joints != model.joints:
        yield f"the robot has {', '.join(robot.joints)} and the model {', '.join(model.joints)}"
    if not robot.joints and len(model.joints) > 1:
        yield Note(f"the robot's interface names no joints; the model's order is {', '.join(model.joints)}")


def same_period(robot: Interface, model: Interface) -> Iterator[str]:
    """Robot and model are commanded equally often.

    Make the workspace with --period-s, or change period_s of the robot's interface.
    """
    if not math.isclose(robot.period_s, model.period_s, rel_tol=1e-6):
        yield f"the robot every {robot.period_s:g} s and the model every {model.period_s:g} s"
    yield Seen(f"every {robot.period_s:g} s")


def accepts_commands(robot: Interface, model: Interface) -> Iterator[str]:
    """The robot takes every command that the model allows.

    Narrow the model's ctrlrange to what the robot takes, or a policy will count on more than it gets.
    """
    for c in model.commands:
        mine = next((r for r in robot.commands if r.name == c.name), c)
        if c.low < mine.low or c.high > mine.high:
            yield f"{c.name} is {c.low:g} to {c.high:g} in the model, and the robot takes {mine.low:g} to {mine.high:g}"
        elif c.low > mine.low or c.high < mine.high:
            yield Note(f"the model uses {c.low:g} to {c.high:g} of the {mine.low:g} to {mine.high:g} of {c.name}")


def bounds_commands(model: Interface) -> Iterator[str]:
    """Every command of the model has two finite limits.

    Write ctrlrange into the model's actuators.
    """
    for c in model.commands:
        if not (np.isfinite(c.low) and np.isfinite(c.high) and c.low < c.high):
            yield f"{c.name} may be commanded from {c.low} to {c.high}"


def starts_inside(task: Task, simulator: Simulator, limits: Interface) -> Iterator[str]:
    """Episodes start inside the limits at which the robot is stopped.

    Draw starts from a smaller region, or widen the limits of the robot's interface.
    """
    for draw in (task.start, task.explore):
        seen = measured_at(simulator, draw(jax.random.key(0), STARTS))
        known = [c for c in limits.measurements if c.name in seen]
        told = [f"{draw.__name__}: {f}" for f in _outermost(seen, known)]
        # Training may begin where the robot would be stopped; episodes on it must not.
        yield from told if draw == task.start else map(Note, told)


def starts_as_the_task_says(handled: Handled, task: Task, simulator: Simulator) -> Iterator[str]:
    """After a reset the robot is where the task says that episodes start.

    Look for another zero or sign in the driver, or let the task start where the robot does.
    """
    handled.begin()
    seen = handled.robot.get_observation()
    drawn = measured_at(simulator, task.start(jax.random.key(0), STARTS))
    for name, values in drawn.items():
        low, high = values.min(axis=0), values.max(axis=0)
        slack = 3 * (high - low) + FAR
        here = np.asarray(seen.get(name, low), np.float64).reshape(-1)
        if here.shape == low.shape and ((here < low - slack) | (here > high + slack)).any():
            yield f"{name} reads {_spelled(here)}, and the task starts between {_spelled(low)} and {_spelled(high)}"


def measured_at(simulator: Simulator, start: Signals) -> dict[str, np.ndarray]:
    """What the simulator's sensors read at starts, one row each, with nominal parameters."""
    rows = len(next(iter(start.values()))) if start else 1
    wide = simulator.with_worlds(rows)
    _, seen, _ = wide.reset(wide.init(), np.ones(rows, bool), {}, start, jax.random.key(0))
    return {name: np.asarray(values, np.float64) for name, values in seen.items()}


def _outermost(seen: dict[str, np.ndarray], channels: list[Channel]) -> Iterator[str]:
    """Channels that leave their limits, by their smallest and largest values only."""
    ends = {name: np.array([values.min(), values.max()]) for name, values in seen.items()}
    return outside(ends, channels)


def _unlike_widths(mine: tuple[Channel, ...], theirs: tuple[Channel, ...]) -> Iterator[str]:
    widths = {c.name: c.width for c in theirs}
    for c in mine:
        if widths.get(c.name, c.width) != c.width:
            yield f"{c.name} has {c.width} numbers for the robot and {widths[c.name]} for the model"


def _spelled(values: np.ndarray) -> str:
    return ", ".join(f"{v:.3g}" for v in values)
