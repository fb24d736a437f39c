"""The laws of units: SI throughout, the same on all sides, and values that look like it."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..interface import Channel
from ..signals import Signals
from ..task import Task
from .handled import Handled
from .laws import Seen

INSTEAD = {
    "deg": "rad", "degree": "rad", "degrees": "rad", "°": "rad", "deg/s": "rad/s", "°/s": "rad/s", "rpm": "rad/s",
    "turn": "rad", "turns": "rad", "rev": "rad", "mm": "m", "cm": "m", "mm/s": "m/s", "cm/s": "m/s", "in": "m",
    "ms": "s", "us": "s", "g": "kg", "mN": "N", "Ncm": "N m", "Nmm": "N m", "mV": "V", "mA": "A",
}  # fmt: skip
"""Units that are not SI → the one that is."""
LARGEST = {"rad": (4 * math.pi, 44.0, "degrees"), "m": (20.0, 50.0, "millimetres")}
"""What values and limits in that unit seldom exceed, and what they probably are instead."""
Sides = Mapping[str, Sequence[Channel]]
"""Who says so ("the model", "the task", "the robot") → the channels."""


def are_si(sides: Sides) -> Iterator[str]:
    """Units are SI.

    Convert in the driver, or let Channel's scale and offset do it, and write the SI unit into the channel.
    """
    for who, channels in sides.items():
        for c in channels:
            if c.unit in INSTEAD:
                yield f"{who} gives {c.name} in {c.unit}, which is to be {INSTEAD[c.unit]}"


def agree(sides: Sides) -> Iterator[str]:
    """All sides give a channel in the same unit.

    Convert on the side that is wrong, and write the same unit everywhere.
    """
    named: dict[str, dict[str, str]] = {}
    for who, channels in sides.items():
        for c in channels:
            if c.unit:
                named.setdefault(c.name, {})[who] = c.unit
    for name, units in named.items():
        if len(set(units.values())) > 1:
            yield f"{name} is in " + ", ".join(f"{unit} for {who}" for who, unit in units.items())
    yield Seen(", ".join(f"{name} in {next(iter(units.values()))}" for name, units in named.items()))


def observes_angles(task: Task, channels: Sequence[Channel]) -> Iterator[str]:
    """Sines, cosines and angle rates are taken of channels in rad.

    Observe the channel's value or rate, or give it in rad.
    """
    units = {c.name: c.unit for c in (*channels, *task.measurements) if c.unit}
    for feature in task.observe.features:
        if feature.kind in ("sin", "cos", "angle_rate") and units.get(feature.channel, "rad") != "rad":
            yield f"the policy sees the {feature.kind} of {feature.channel}, which is in {units[feature.channel]}"


def reads_si_values(handled: Handled) -> Iterator[str]:
    """Values and limits are of the size that their unit suggests.

    Convert to rad and m in the driver; where the value is right, move the machine nearer to its zero first.
    """
    handled.begin()
    seen = handled.robot.get_observation()
    for c in handled.robot.interface.measurements:
        value, bound, rather = LARGEST.get(c.unit, (math.inf, math.inf, ""))
        if _largest(seen, c.name) > value:
            yield f"{c.name} reads {_largest(seen, c.name):.4g} {c.unit}, which looks like {rather}"
        elif _limit(c) > bound:
            yield f"{c.name} is limited to {_limit(c):.4g} {c.unit}, which looks like {rather}"


def _largest(seen: Signals, name: str) -> float:
    try:
        return float(np.abs(np.asarray(seen[name], np.float64)).max())
    except (KeyError, TypeError, ValueError):
        return 0.0  # said by another law


def _limit(channel: Channel) -> float:
    return max((abs(v) for v in (channel.low, channel.high) if math.isfinite(v)), default=0.0)
