"""Tasks that nobody wrote: reach, hold, follow and recover, made from a robot's interface and how far its joints may go.

`reach:arm.angle` is a task as much as `swingup` is. The text is all that a workspace keeps of it: interface and model do the
rest, so that the same text in the same workspace is the same task. `reach:arm.angle=0.4` names the target, in the channel's unit.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

from gapless.core import GaplessError, Interface, Task

from .verbs import Follow, Goal, Hold, Reach, Recover

VERBS: dict[str, type[Goal]] = {"reach": Reach, "hold": Hold, "follow": Follow, "recover": Recover}


class Generated(NamedTuple):
    """What the text of a generated task says."""

    verb: str
    channel: str
    value: float | None
    """The target, or how far to sway; None leaves it to the task."""


def is_generated(spec: str) -> bool:
    """Whether a task's text names a verb and not a file or a module."""
    return spec.partition(":")[0] in VERBS and ":" in spec


def read_spec(spec: str) -> Generated:
    """VERB:CHANNEL or VERB:CHANNEL=VALUE, taken apart."""
    verb, _, rest = spec.partition(":")
    channel, equals, value = rest.partition("=")
    try:
        number = float(value) if equals else None
    except ValueError:
        number = math.nan
    if verb not in VERBS or not channel or (number is not None and not math.isfinite(number)):
        raise GaplessError(
            f"cannot make a task of {spec!r}; write {', '.join(VERBS)}, a colon, a channel and, if you like, = and a number."
        )
    return Generated(verb, channel, number)


def generate(spec: str, interface: Interface, stretches: Mapping[str, tuple[str, float, float, float, bool]]) -> Task:
    """The task that a text names, on a robot whose position channels' joints may go so far: joint, low, home, high, turns."""
    verb, channel, value = read_spec(spec)
    if channel not in stretches:
        raise GaplessError(
            f"{interface.robot!r} cannot {verb} with {channel!r}: it is no channel that reads a joint's position. "
            f"There are {', '.join(stretches) or 'none'}."
        )
    joint, low, _, high, turns = stretches[channel]
    if value is not None and verb != "follow" and not turns and not low <= value <= high:
        raise GaplessError(f"{spec} asks for {value:g}; the joint {joint!r} goes from {low:g} to {high:g}.")
    return VERBS[verb](spec, interface, dict(stretches), channel, value)
