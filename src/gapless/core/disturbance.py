"""Something that goes wrong for a while: a push, a command or reading that is not what it should be, a parameter that changes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from .errors import GaplessError

What = Literal["force", "command", "sensor", "param"]
EARLY = 0.01
"""Share of a period by which a clock that counts periods may be behind."""


@dataclass(frozen=True)
class Disturbance:
    """From `from_s` until before `to_s`, one thing is `times` what it would have been, plus `add`."""

    what: What
    """A force on a joint, a command on its way to the motor, a reading on its way to the policy, or a parameter."""
    of: str
    """Which: a joint, a command, a measurement, or a parameter, by its name."""
    times: float = 1.0
    """What it is multiplied by; a force, of which there was none, has nothing to multiply."""
    add: float = 0.0
    """What is added, in its own unit: N or N m for a force."""
    from_s: float = 0.0
    """When it begins, from the start of the episode."""
    to_s: float = math.inf
    """When it is over; never, if not given."""

    def __post_init__(self) -> None:
        if self.what not in get_args(What) or not self.of:
            raise GaplessError(
                f"a disturbance is of {self.of!r:.60} and what it is says {self.what!r:.60}; it needs a name, and one of "
                f"{', '.join(get_args(What))}."
            )
        if not (math.isfinite(self.times) and math.isfinite(self.add)) or not 0 <= self.from_s < self.to_s:
            raise GaplessError(
                f"the disturbance of {self.of!r} needs finite times and add and 0 ≤ from_s < to_s (found times {self.times}, "
                f"add {self.add}, from {self.from_s} s to {self.to_s} s)."
            )
        if self.what == "force" and self.times != 1.0:
            raise GaplessError(f"the force on {self.of!r} has times {self.times}; a force has only what it adds.")


def disturbed(values: Any, disturbances: Sequence[Disturbance], period: Any, period_s: float, xp: Any = np) -> Any:
    """What the disturbances make of values, world by world, each so many periods after its start; `xp` may be JAX's NumPy."""
    for d in disturbances:
        on = (period >= d.from_s / period_s - EARLY) & (period < d.to_s / period_s - EARLY)
        on = on.reshape(on.shape + (1,) * (values.ndim - on.ndim))
        values = xp.where(on, d.times * values + d.add, values)
    return values
