"""The robot under fire, and the witness at its motors, which shares no code with the gate."""

from typing import Any

import numpy as np

from gapless.core import Channel, Interface, Robot, Signals, generator_for
from safety_faults import ERRORS, SPOILERS
from safety_scenes import Scene, nearest_to_zero

WELL = 0.05
"""Share of a command's range that surely drives a robot, as the gate's rule for frozen robots has it."""
MOVED = 5
"""Readings in a row that differed before a robot that stands still looks frozen, as the same rule has it."""


class Witness:
    """Stands at the motors: every command that arrives must be a legal one."""

    def __init__(self, interface: Interface) -> None:
        self.interface, self.violations, self.commands = interface, 0, 0
        self._last = {c.name: nearest_to_zero(c) for c in interface.commands}
        self._at_s: float | None = None
        self.resting, self._jumped = True, False

    def sees(self, command: Any, time_s: float) -> None:
        """A command arrives."""
        self.commands += 1
        self.resting = all(np.array_equal(command[c.name], nearest_to_zero(c)) for c in self.interface.commands)
        self.violations += self._jumped and not self.resting
        for channel in self.interface.commands:
            value = np.asarray(command[channel.name])
            legal = value.shape == (channel.width,) and value.dtype == np.float64 and bool(np.isfinite(value).all())
            legal = legal and bool((value >= channel.low).all() and (value <= channel.high).all())
            elapsed = self.interface.period_s if self._at_s is None else time_s - self._at_s
            jump = float(np.abs(value - self._last[channel.name]).max()) if legal else np.inf
            jumps = jump > channel.rate * elapsed * (1 + 1e-9) + 1e-12
            self._jumped = self._jumped or jumps
            self.violations += not legal or (jumps and not self.resting)
            self._last[channel.name] = value
        self._at_s = time_s


class Machine(Robot):
    """Masses on springs and dampers, pushed by commands, with one fault."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.interface, self.witness = scene, scene.interface, Witness(scene.interface)
        self.rng = generator_for(scene.seed, "machine")
        self.struck_at: int | None = None
        """Period in which the fault first did something."""
        self.known_at: int | None = None
        """Period in which a frozen robot had repeated itself often enough while driven."""
        self.period, self._repeats, self._driven, self._moved, self._seen = -1, 0, False, 0, {}
        self._time_s, self._x, self._v = 0.0, np.zeros(0), np.zeros(0)
        self._command = {c.name: nearest_to_zero(c) for c in self.interface.commands}
        self._acting, self._kept, self._mix = self._command, {}, np.zeros((0, 0))

    def connect(self) -> None: ...

    def disconnect(self) -> None: ...

    def reset(self, episode: int) -> None:
        n, pushes = self.interface.measurement_width, self.interface.command_width
        self._x, self._v = self.rng.uniform(-0.2, 0.2, n), np.zeros(n)
        self._mix = self.rng.uniform(-1, 1, (n, pushes)) / pushes

    def now(self) -> float:
        if self.struck("clock raises"):
            raise OSError("no clock")
        if self.struck("clock goes back"):
            return self._time_s - 1.0
        return self._time_s

    def wait_until(self, time_s: float) -> None:
        self.period += 1
        self._raise_if("wait raises", "gone for good")
        if self.struck("clock stands still"):
            return
        self.advance(max(time_s - self._time_s, 0.0) + self._late("wait late"))

    def get_observation(self) -> Signals:
        self._raise_if("read raises", "gone for good")
        self.advance(self._late("read late"))
        seen = self._measured()
        if not self._kept:
            same = all(np.array_equal(seen[n], self._seen.get(n, np.nan)) for n in self.interface.measurement_names)
            self._seen, self._moved = seen, 0 if same else self._moved + bool(self._seen)
        return self._spoilt(seen) if self.scene.fault in SPOILERS and self.struck(self.scene.fault) else seen

    def send_action(self, command: Signals) -> Any:
        self.witness.sees(command, self._time_s)
        self._raise_if("send raises", "gone for good")
        self._driven = any(_drives(c, command[c.name], self._command[c.name]) for c in self.interface.commands)
        self._command = command
        self.advance(self._late("send late"))
        return "thanks" if self.struck("garbled reply") else command

    def struck(self, *faults: str) -> bool:
        """Whether one of these faults is the scene's and has begun."""
        struck = self.scene.fault in faults and self.period >= self.scene.at
        if struck and self.struck_at is None:
            self.struck_at = self.period
        return struck

    def _late(self, fault: str) -> float:
        """Seconds by which an answer is late, once."""
        strikes = self.struck_at is None and self.struck(fault)
        limits, period_s = self.scene.limits, self.interface.period_s
        allowed = limits.watchdog(period_s) if fault == "wait late" else limits.late(period_s)
        return allowed * self.rng.uniform(1.05, 5) if strikes else 0.0

    def _raise_if(self, *faults: str) -> None:
        if self.struck(*faults):
            raise ERRORS[self.rng.integers(len(ERRORS))]("bus")

    def advance(self, seconds: float) -> None:
        """Let time pass; commands act a period after they came."""
        steps = max(1, min(20, round(seconds / self.interface.period_s * 4))) if seconds > 0 else 0
        for _ in range(steps):
            force = self._mix @ self._pushes()
            self._v = force if self.scene.kinematic else self._v + seconds / steps * (force - self._x - 2 * self._v)
            self._x = self._x + seconds / steps * self._v
        self._acting = self._command if steps else self._acting
        self._time_s += seconds

    def _pushes(self) -> np.ndarray:
        """From -1 to 1, 0 at rest."""
        channels = self.interface.commands
        return np.concatenate(
            [(self._acting[c.name] - nearest_to_zero(c)) / max(c.high - c.low, 1e-9) for c in channels]
        )

    def _measured(self) -> Signals:
        seen, first = {}, 0
        for channel in self.interface.measurements:
            x = self._x[first : first + channel.width]
            noise = self.scene.noise * self.rng.standard_normal(channel.width)
            seen[channel.name], first = np.clip(x + noise, -4.9, 4.9), first + channel.width
            if self.scene.stamped:
                seen[f"{channel.name}.time"] = np.array([self._time_s - 0.001])
        return seen

    def _tells(self) -> bool:
        """Whether a reading that repeats itself has no excuse."""
        excuses = {
            "frozen robot": not self._driven or self._moved < MOVED,
            "frozen channel": self.witness.resting and len(self.interface.measurements) == 1,
        }
        return not excuses.get(self.scene.fault, False)

    def _spoilt(self, seen: Signals) -> Signals:
        name = self.interface.measurements[-1].name
        self._repeats += bool(self._kept) and self._tells()
        self._kept = self._kept or seen
        if self._repeats >= self.scene.limits.frozen_samples and self.known_at is None:
            self.known_at = self.period
        return SPOILERS[self.scene.fault](seen, name, self._kept)


def _drives(channel: Channel, value: np.ndarray, before: np.ndarray) -> bool:
    enough = WELL * (channel.high - channel.low)
    return max(np.abs(value - nearest_to_zero(channel)).max(), np.abs(value - before).max()) > enough
