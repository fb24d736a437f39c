"""The contract of a robot and of its simulator: which channels exist, in which unit, within which limits, how often."""

import dataclasses
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from .errors import GaplessError

WIDEST = 2**16
"""Numbers that all channels of a stored interface have at most; none has so many."""
PERIODS_S = (1e-6, 3600.0)
"""Shortest and longest control period of a stored interface."""


@dataclass(frozen=True)
class Channel:
    """One named signal, in SI units."""

    name: str
    """Thing and quantity, e.g. "pole.angle"."""
    width: int = 1
    """Numbers per sample."""
    unit: str = ""
    """SI unit, e.g. "rad", "m", "V"; empty for a pure number."""
    low: float = -math.inf
    """Smallest value that may be commanded, or measured without stopping the robot."""
    high: float = math.inf
    """Largest such value."""
    rate: float = math.inf
    """Largest change per second that may be commanded, or measured without stopping the robot."""
    scale: float = 1.0
    """SI value = scale · driver's value + offset."""
    offset: float = 0.0
    """See scale."""

    def __post_init__(self) -> None:
        linear = math.isfinite(self.scale) and math.isfinite(self.offset) and self.scale != 0
        if not self.name or self.width < 1 or not self.low <= self.high or not self.rate > 0 or not linear:
            raise GaplessError(
                f"channel {self.name!r} is not usable: it needs a name, width ≥ 1, low ≤ high, rate > 0, a finite scale ≠ 0 "
                f"and a finite offset (found width {self.width}, low {self.low}, high {self.high}, rate {self.rate}, "
                f"scale {self.scale}, offset {self.offset})."
            )


@dataclass(frozen=True)
class Interface:
    """Commands and measurements of one machine, its control period and the order of its joints."""

    robot: str
    """What kind of machine this is."""
    period_s: float
    """Time between two commands."""
    commands: tuple[Channel, ...]
    """What can be sent."""
    measurements: tuple[Channel, ...]
    """What can be read."""
    joints: tuple[str, ...] = ()
    """Joints in the order in which vectors list them."""

    def __post_init__(self) -> None:
        times = Counter(c.name for c in self.commands + self.measurements)
        twice = sorted(name for name, count in times.items() if count > 1)
        if twice:
            raise GaplessError(
                f"interface of {self.robot!r} names {', '.join(twice)} twice; give each channel one name."
            )
        if not (math.isfinite(self.period_s) and self.period_s > 0):
            raise GaplessError(f"interface of {self.robot!r} has period {self.period_s} s; it must be positive.")

    @property
    def command_names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.commands)

    @property
    def measurement_names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.measurements)

    @property
    def command_widths(self) -> dict[str, int]:
        return {c.name: c.width for c in self.commands}

    @property
    def measurement_widths(self) -> dict[str, int]:
        return {c.name: c.width for c in self.measurements}

    @property
    def command_width(self) -> int:
        return sum(c.width for c in self.commands)

    @property
    def measurement_width(self) -> int:
        return sum(c.width for c in self.measurements)

    def channel(self, name: str) -> Channel:
        for c in self.commands + self.measurements:
            if c.name == name:
                return c
        known = ", ".join(c.name for c in self.commands + self.measurements)
        raise GaplessError(f"{self.robot!r} has no channel {name!r} (it has: {known}).")

    def differences(self, other: "Interface") -> list[str]:
        """What would go wrong if the two were taken for the same machine, one sentence each."""
        found = []
        if not math.isclose(self.period_s, other.period_s, rel_tol=1e-6):
            found.append(f"period {self.period_s} s against {other.period_s} s")
        if self.joints and other.joints and self.joints != other.joints:
            found.append(f"joints {', '.join(self.joints)} against {', '.join(other.joints)}")
        for kind in ("commands", "measurements"):
            mine, theirs = getattr(self, kind), getattr(other, kind)
            if [(c.name, c.width) for c in mine] != [(c.name, c.width) for c in theirs]:
                spelled = [" ".join(f"{c.name}[{c.width}]" for c in side) for side in (mine, theirs)]
                found.append(f"{kind} {spelled[0]} against {spelled[1]}")
            found += [
                f"{a.name} in {a.unit or '1'} against {b.unit or '1'}"
                for a, b in zip(mine, theirs, strict=False)
                if a.name == b.name and a.unit and b.unit and a.unit != b.unit
            ]
        return found

    def require_same(self, other: "Interface", mine: str, theirs: str) -> None:
        """Raise unless both describe the same channels, units, order and period."""
        found = self.differences(other)
        if found:
            raise GaplessError(
                f"{mine} and {theirs} do not fit: {'; '.join(found)}. "
                "Use those made for one machine, or map the channels to each other."
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; infinite limits become null."""
        return _without_infinities(dataclasses.asdict(self))

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> "Interface":
        """The interface that `to_dict` wrote; whatever else anybody may have written is refused."""
        try:
            commands, measurements = (_channels(plain[k]) for k in ("commands", "measurements"))
            _require_size(commands + measurements)
            joints = tuple(_of_kind("joint", j, str) for j in _of_kind("joints", plain.get("joints", []), list | tuple))
            return cls(
                _of_kind("robot", plain["robot"], str), _period(plain["period_s"]), commands, measurements, joints
            )
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise GaplessError(
                f"this is not the description of an interface: {type(error).__name__} {error}. Restore the file."
            ) from None


def _channels(plain: Any) -> tuple[Channel, ...]:
    return tuple(_channel(c) for c in _of_kind("channels", plain, list | tuple))


def _channel(plain: dict[str, Any]) -> Channel:
    limits = {"low": -math.inf, "high": math.inf, "rate": math.inf}
    given: dict[str, Any] = {k: limits[k] if v is None and k in limits else v for k, v in plain.items()}
    for key, value in given.items():
        _of_kind(key, value, {"name": str, "unit": str, "width": int}.get(key, int | float))
        if not isinstance(value, str):
            float(value)  # an integer beyond all floats raises here and not in the middle of an episode
    return Channel(**given)


def _of_kind(key: str, value: Any, kind: Any) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{key} is {value!r:.60}")
    return value


def _period(value: Any) -> float:
    period_s = float(_of_kind("period_s", value, int | float))
    if not PERIODS_S[0] <= period_s <= PERIODS_S[1]:
        raise ValueError(f"period_s is {period_s}; between {PERIODS_S[0]} and {PERIODS_S[1]} is possible")
    return period_s


def _require_size(channels: tuple[Channel, ...]) -> None:
    width = sum(c.width for c in channels)
    if width > WIDEST:
        raise ValueError(f"its channels have {width} numbers; at most {WIDEST} are possible")


def _without_infinities(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_infinities(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinities(v) for v in value]
    return None if isinstance(value, float) and math.isinf(value) else value
