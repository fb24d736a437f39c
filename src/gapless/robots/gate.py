"""The safety gate between policy and robot: nothing outside the limits passes, and what is not safe stops the robot."""

from dataclasses import dataclass

import numpy as np

from gapless.core import Channel, Robot, Signals


@dataclass(frozen=True)
class Limits:
    """When to stop, beyond the limits that the interface itself names."""

    watchdog_s: float = 0.1
    """Longest time between two commands."""
    rate_samples: int = 3
    """Measured rates are taken over this many samples, so that noise does not look like speed."""


class Gate(Robot):
    """A robot behind its limits. Once stopped, it sends rest until the next reset and says why in `stopped`."""

    def __init__(self, robot: Robot, limits: Limits | None = None) -> None:
        self.robot, self.interface, self.limits = robot, robot.interface, limits or Limits()
        self.stopped: str | None = None
        self._seen: dict[str, list[tuple[float, np.ndarray]]] = {}
        self._sent: dict[str, np.ndarray] = {}
        self._sent_at: float | None = None

    def connect(self) -> None:
        self.robot.connect()

    def disconnect(self) -> None:
        self.robot.disconnect()

    def reset(self, episode: int) -> None:
        self.stopped, self._seen, self._sent, self._sent_at = None, {}, {}, None
        self.robot.reset(episode)

    def now(self) -> float:
        return self.robot.now()

    def wait_until(self, time_s: float) -> None:
        self.robot.wait_until(time_s)

    def get_observation(self) -> Signals:
        seen = self.robot.get_observation()
        for channel in self.interface.measurements:
            self._check(channel, seen)
        return seen

    def send_action(self, command: Signals) -> Signals:
        now = self.robot.now()
        if self._sent_at is not None and now - self._sent_at > self.limits.watchdog_s:
            self.stop(f"no command for {now - self._sent_at:.3f} s, the watchdog allows {self.limits.watchdog_s} s")
        wanted = {c.name: self._wanted(c, command) for c in self.interface.commands}
        passed = self.rest()
        if not self.stopped:
            passed = {c.name: self._limited(c, wanted[c.name], now) for c in self.interface.commands}
        sent = self.robot.send_action(passed)
        # Rates are measured from what left the gate: a driver's reply may be anything.
        self._sent, self._sent_at = {k: np.asarray(v, np.float64) for k, v in passed.items()}, now
        return sent

    def stop(self, reason: str) -> None:
        """From now on the robot rests; the first reason stays."""
        self.stopped = self.stopped or reason

    def rest(self) -> Signals:
        """The command nearest to zero within the limits."""
        return {c.name: np.clip(np.zeros(c.width), c.low, c.high) for c in self.interface.commands}

    def _wanted(self, channel: Channel, command: Signals) -> np.ndarray:
        try:
            values = np.asarray(command[channel.name], np.float64).reshape(channel.width)
        except (KeyError, ValueError, TypeError, OverflowError):
            self.stop(f"the policy gave no command of width {channel.width} for {channel.name}")
            return np.zeros(channel.width)
        if not np.isfinite(values).all():
            self.stop(f"the policy commanded {values.tolist()} for {channel.name}")
        return values

    def _limited(self, channel: Channel, values: np.ndarray, now: float) -> np.ndarray:
        values = np.clip(values, channel.low, channel.high)
        before = self._sent.get(channel.name)
        if before is None or self._sent_at is None or not np.isfinite(channel.rate):
            return values
        most = channel.rate * max(now - self._sent_at, 0.0)
        return np.clip(np.clip(values, before - most, before + most), channel.low, channel.high)

    def _check(self, channel: Channel, seen: Signals) -> None:
        if channel.name not in seen:
            return self.stop(f"the robot did not measure {channel.name}")
        try:
            values = np.asarray(seen[channel.name], np.float64)
        except (ValueError, TypeError, OverflowError):
            return self.stop(f"the robot measured no numbers for {channel.name}")
        if values.shape != (channel.width,) or not np.isfinite(values).all():
            return self.stop(f"the robot measured {values.tolist()} for {channel.name}")
        if (values < channel.low).any() or (values > channel.high).any():
            return self.stop(
                f"{channel.name} is {values.tolist()}, outside {channel.low} to {channel.high} {channel.unit}"
            )
        past = self._seen.setdefault(channel.name, [])
        past.append((self.robot.now(), values))
        del past[: -self.limits.rate_samples]
        elapsed = past[-1][0] - past[0][0]
        if len(past) == self.limits.rate_samples and elapsed > 0:
            rate = float(np.abs(past[-1][1] - past[0][1]).max()) / elapsed
            if rate > channel.rate:
                self.stop(f"{channel.name} moves at {rate:.3g} {channel.unit}/s, the limit is {channel.rate:.3g}")
        return None
