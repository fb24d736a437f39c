"""Whether a reading can be trusted and is safe: there, of numbers, in time, within its limits, and alive."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from gapless.core import Channel, Interface, Signals

from .frozen import Frozen
from .limits import Limits


class Unsafe(Exception):
    """Why a reading stops the robot, and how many of the last readings nobody should learn from."""

    def __init__(self, reason: str, spoiled: int = 0) -> None:
        super().__init__(reason)
        self.spoiled = spoiled


class Readings:
    """What an episode has measured until now."""

    def __init__(self, interface: Interface, limits: Limits) -> None:
        self.interface, self.limits, self.count = interface, limits, 0
        self.frozen = Frozen(interface, limits.frozen_samples)
        self._past: dict[str, list[tuple[float, np.ndarray]]] = {}
        self._stamps: dict[str, tuple[float, int]] = {}

    def check(self, seen: Any, time_s: float) -> None:
        """Take a reading; raise Unsafe unless the robot may go on."""
        self.count += 1
        if not isinstance(seen, Mapping):
            raise Unsafe(f"the robot measured nothing (its driver returned {type(seen).__name__})", 1)
        values = {c.name: _numbers(c, seen) for c in self.interface.measurements}
        for channel in self.interface.measurements:
            self._check_place(channel, values[channel.name])
            self._check_rate(channel, values[channel.name], time_s)
            self._check_stamp(channel.name, seen.get(f"{channel.name}.time"))
        self._check_alive(values)

    def place(self, command: Channel) -> Float[np.ndarray, " width"] | None:
        """The last trusted measurement of what a command sets, by its name."""
        past = self._past.get(f"{command.name}.position", [])
        return past[-1][1] if past and len(past[-1][1]) == command.width else None

    def _check_place(self, channel: Channel, values: Float[np.ndarray, " width"]) -> None:
        if (values >= channel.low).all() and (values <= channel.high).all():
            return
        if self.count == 1:
            raise Unsafe(
                f"the robot starts outside its limits: {channel.name} is {values.tolist()} {channel.unit}, allowed are "
                f"{channel.low} to {channel.high} {channel.unit}; move it there by hand and try again"
            )
        raise Unsafe(f"{channel.name} is {values.tolist()}, outside {channel.low} to {channel.high} {channel.unit}")

    def _check_rate(self, channel: Channel, values: Float[np.ndarray, " width"], time_s: float) -> None:
        past = self._past.setdefault(channel.name, [])
        past.append((time_s, values))
        del past[: -self.limits.rate_samples]
        elapsed = past[-1][0] - past[0][0]
        if len(past) < self.limits.rate_samples or elapsed <= 0:
            return
        rate = float(np.abs(past[-1][1] - past[0][1]).max()) / elapsed
        if rate > channel.rate:  # a speed, or a jump of the sensor: then none of these samples says where it was
            reason = f"{channel.name} moves at {rate:.3g} {channel.unit}/s, the limit is {channel.rate:.3g}"
            raise Unsafe(reason, self.limits.rate_samples - 1)

    def _check_stamp(self, name: str, stamp: Any) -> None:
        if stamp is None:
            return
        time_s = stamp_of(stamp)
        if time_s is None:
            raise Unsafe(f"the time stamp of {name} is {stamp!r}", 1)
        last_s, repeats = self._stamps.get(name, (-np.inf, 0))
        if time_s < last_s:
            raise Unsafe(f"the time stamp of {name} went back by {last_s - time_s:.3g} s", 1)
        repeats = repeats + 1 if time_s == last_s else 0
        self._stamps[name] = time_s, repeats
        if self.limits.frozen_samples and repeats >= self.limits.frozen_samples:
            raise Unsafe(f"{name} is stale: its time stamp has not moved for {repeats} readings", repeats)

    def _check_alive(self, values: Signals) -> None:
        found = self.frozen.reading(values)
        if found is not None:
            raise Unsafe(f"{found[0]} is frozen: {found[1]} readings in a row repeat it bit for bit", found[1])


def stamp_of(stamp: Any) -> float | None:
    """A driver's time stamp in seconds, a number or an array of one; None when it is no time."""
    try:
        values = np.asarray(stamp, np.float64).reshape(-1)
    except (ValueError, TypeError, OverflowError):
        return None
    return float(values[0]) if len(values) == 1 and np.isfinite(values[0]) else None


def _numbers(channel: Channel, seen: Mapping[str, Any]) -> Float[np.ndarray, " width"]:
    if channel.name not in seen:
        raise Unsafe(f"the robot did not measure {channel.name}", 1)
    try:
        values = np.array(seen[channel.name], np.float64)  # a copy: drivers may fill the same array again
    except (ValueError, TypeError, OverflowError):
        raise Unsafe(f"the robot measured no numbers for {channel.name}", 1) from None
    if values.shape != (channel.width,) or not np.isfinite(values).all():
        raise Unsafe(f"the robot measured {values.tolist()} for {channel.name}", 1)
    return values
