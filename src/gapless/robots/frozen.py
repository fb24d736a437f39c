"""Whether measurements are frozen: they repeat bit for bit where a live robot's could not.

Repeating alone proves nothing: a noiseless encoder at rest repeats, a quantised one repeats while a pose is held, and a sensor
slower than the control period repeats between its samples. Two rules have no such excuse:

- A noisy channel never reads the same twice. One that has not repeated itself since the reset, and now does while a command is
  off rest or another channel goes on changing, is frozen.
- A robot that moved, and of which nothing at all changes any more although it is driven, is frozen or blocked. Driven means: a
  command that is no place (m, rad) is well off rest, or any command has just moved well. Holding a place is no drive.

A channel that was dead before the reset cannot be told from a joint that is held; drivers that stamp their measurements
("<channel>.time") leave no such doubt.
"""

from dataclasses import dataclass

import numpy as np

from gapless.core import Channel, Interface, Signals

from .limits import PLACES, rest_of

WELL = 0.05
"""Share of a command's range that surely drives a robot."""
MOVED_SAMPLES = 5
"""Readings in a row that must have differed before: what never changed tells nothing."""


@dataclass
class Repeats:
    """How one reading has come back so far."""

    last: bytes | None = None
    changes: int = 0
    """Readings in a row that differed, up to where it began to repeat itself."""
    repeats: int = 0
    """Readings since the last that differed."""
    suspect: int = 0
    """Those of them that came although something drove the robot."""
    noisy: bool = True
    """Whether it has never repeated itself before."""

    def changed(self, reading: bytes) -> bool:
        """Take a reading; whether it differs from the one before."""
        before, self.last = self.last, reading
        if before is None or before == reading:
            self.repeats += before is not None
            return before is None
        if self.repeats:
            self.changes, self.noisy = 0, False
        self.changes, self.repeats, self.suspect = self.changes + 1, 0, 0
        return True


class Frozen:
    """Commands and readings of one episode, by the two rules."""

    def __init__(self, interface: Interface, samples: int) -> None:
        self.interface, self.samples = interface, samples
        self._channels = {name: Repeats() for name in interface.measurement_names}
        self._whole = Repeats()
        self._before: Signals = {}
        self._off_rest = self._driven = False

    def command(self, sent: Signals) -> None:
        """Take note of a command that left the gate."""
        channels = self.interface.commands
        self._off_rest = any((sent[c.name] != rest_of(c)).any() for c in channels)
        self._driven = any(_drives(c, sent[c.name], self._before.get(c.name, rest_of(c))) for c in channels)
        self._before = sent

    def reading(self, seen: Signals) -> tuple[str, int] | None:
        """What is frozen and for how many readings, if anything is; values are float64 arrays by channel."""
        changed = {name: self._channels[name].changed(seen[name].tobytes()) for name in self._channels}
        self._whole.changed(b"".join(seen[name].tobytes() for name in self._channels))
        self._whole.suspect += self._whole.repeats > 0 and self._driven
        for name, repeats in self._channels.items():
            repeats.suspect += not changed[name] and (self._off_rest or any(changed.values()))
            if repeats.noisy and self._tells(repeats):
                return name, repeats.repeats
        if self._tells(self._whole):
            return "everything that the robot measures", self._whole.repeats
        return None

    def _tells(self, repeats: Repeats) -> bool:
        return repeats.changes >= MOVED_SAMPLES and repeats.suspect >= self.samples > 0


def _drives(channel: Channel, sent: np.ndarray, before: np.ndarray) -> bool:
    reach = channel.high - channel.low
    enough = WELL * reach if np.isfinite(reach) else 0.0
    pushes = channel.unit not in PLACES and bool((np.abs(sent - rest_of(channel)) > enough).any())
    return pushes or bool((np.abs(sent - before) > enough).any())
