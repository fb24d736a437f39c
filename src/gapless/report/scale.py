"""Scales: from values to pixels, with ticks at round values and labels that keep their distance."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .wording import fixed, number, short

Value = float | None


@dataclass(frozen=True)
class Scale:
    """A straight or logarithmic map from [low, high] to [start, end] in pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Pixels; values far outside end up one length outside, so that no coordinate grows without bound."""
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        at = (math.log10(max(value, 1e-300)) if self.log else value) - low
        return self.start + min(max(at / (high - low), -1.0), 2.0) * (self.end - self.start)

    def ticks(self, spacing: float) -> list[tuple[float, str]]:
        """Round values at least about `spacing` pixels apart, each with its text."""
        room = max(2, int(abs(self.end - self.start) / spacing))
        return log_ticks(self.low, self.high, room) if self.log else ticks(self.low, self.high, room)


def ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """At most about `most` multiples of 1, 2 or 5 times a power of ten inside [low, high]."""
    power = 10 ** math.floor(math.log10((high - low) / most))
    step = next(m * power for m in (1, 2, 5, 10) if m * power * most >= (high - low) * 0.999)
    values = [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    if max(abs(low), abs(high)) >= 10_000:
        return [(v, short(v)) for v in values]
    return [(v, fixed(v, max(0, -math.floor(math.log10(step) + 1e-9)))) for v in values]


def log_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Powers of ten inside [low, high]; with round values between them, or without some of them, as room allows."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    choices = [[m * 10.0**p for p in powers for m in between] for between in ((1, 2, 5), (1, 3))]
    choices += [[10.0**p for p in powers if p % stride == 0] for stride in (1, 2, 3, 5, 10)]
    inside = [[v for v in c if low * 0.999 <= v <= high * 1.001] for c in choices]
    chosen = next((c for c in inside if len(c) <= most), inside[-1])
    return [(v, number(v, 1)) for v in chosen]


def span(values: Iterable[Value], pad: float = 0.08) -> tuple[float, float]:
    """Smallest and largest known value with some air around them; never empty."""
    known = [v for v in values if v is not None]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    air = pad * (high - low) or 0.1 * abs(high) or 1.0
    return low - air, high + air


def log_span(values: Iterable[Value]) -> tuple[float, float]:
    """Bounds for a logarithmic axis around the positive values, at least a decade apart."""
    known = [v for v in values if v is not None and v > 0]
    if not known:
        return 0.1, 1.0
    low, high = min(known) / 1.4, max(known) * 1.4
    widen = max(1.0, math.sqrt(10 * low / high))
    return low / widen, high * widen


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near the wanted ones, in their order, `gap` apart and, where there is room, inside [low, high]."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed: list[float] = []
    for i in order:
        placed.append(max(wanted[i], low, placed[-1] + gap if placed else low))
    ceiling = high
    for k in reversed(range(len(placed))):
        placed[k] = min(placed[k], ceiling)
        ceiling = placed[k] - gap
    at = dict(zip(order, placed, strict=True))
    return [at[i] for i in range(len(wanted))]


def thin(length: int, most: int) -> list[int]:
    """At most `most` indices spread evenly over a sequence, both ends included."""
    if length <= most:
        return list(range(length))
    return [round(i * (length - 1) / (most - 1)) for i in range(most)]
