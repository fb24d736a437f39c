"""What learning leaves behind beside its result, read into types: motions, findings, residual maps and learned parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .figures import Value, Values, listed, mapping, real, reals, records, whole, words


@dataclass(frozen=True)
class Finding:
    """A wrong convention that preflight found."""

    kind: str
    channels: tuple[str, ...]
    evidence: str
    advice: str
    fold: Value
    """How many fold the prediction error falls when it is undone; None where the logs alone show it."""


@dataclass(frozen=True)
class Expected:
    """One channel of a chosen motion: as foreseen, in every draw of the belief, and as it came."""

    kind: str
    name: str
    unit: str
    limits: tuple[Value, Value]
    expected: Values
    low: Values
    high: Values
    measured: Values


@dataclass(frozen=True)
class Motion:
    """A motion chosen by what it teaches."""

    episode: int | None
    time_s: Values
    channels: tuple[Expected, ...]
    draws: int | None
    usage: Value
    """The largest share of the way to a limit in any draw."""
    left: dict[str, float]
    """Share of each parameter's deviation that was expected to be left."""


@dataclass(frozen=True)
class Side:
    """One axis of a map."""

    name: str
    unit: str
    low: float
    high: float


@dataclass(frozen=True)
class ResidualMap:
    """Measured − predicted of a channel, by cells of two signals; None where the motion never was."""

    channel: str
    unit: str
    ahead_s: Value
    x: Side
    y: Side
    mean: tuple[Values, ...]
    count: tuple[Values, ...]
    size: Value
    noise: Value
    follows: Value
    """Share of the squared error that the two signals foretell."""


@dataclass(frozen=True)
class LearnedPart:
    """Held-out error without a learned part and with it."""

    name: str
    before: Value
    after: Value


def read_findings(figures: Mapping[str, Any]) -> tuple[Finding, ...] | None:
    """What preflight found; None where nobody looked."""
    found = figures.get("findings", figures.get("preflight"))
    if not isinstance(found, list):
        return None
    return tuple(
        Finding(
            words(item.get("kind")),
            tuple(map(words, listed(item.get("channels")))),
            words(item.get("evidence")),
            words(item.get("advice")),
            real(item.get("fold")),
        )
        for item in records(found)
    )


def read_motions(figures: Mapping[str, Any]) -> tuple[Motion, ...]:
    found = (_motion(item) for item in records(figures.get("motions")))
    return tuple(motion for motion in found if motion.channels)


def read_maps(figures: Mapping[str, Any]) -> tuple[ResidualMap, ...]:
    found = (_map(item) for item in records(figures.get("maps")))
    return tuple(m for m in found if m is not None)


def read_parts(figures: Mapping[str, Any]) -> tuple[LearnedPart, ...]:
    """Learned parts: an entry for each under `parts`, or the one under `residual`."""
    found = records(figures.get("parts")) + records([figures.get("residual")])
    parts = (
        LearnedPart(_part_name(item), real(item.get("held_out_before")), real(item.get("held_out_after")))
        for item in found
    )
    return tuple(part for part in parts if part.before is not None and part.after is not None)


def _part_name(item: Mapping[str, Any]) -> str:
    terms = mapping(item.get("terms"))
    acts_on = [_with_terms(words(name), listed(terms.get(words(name)))) for name in listed(item.get("acts_on"))]
    return words(item.get("name")) or ", ".join(acts_on) or "learned part"


def _with_terms(name: str, terms: list[Any]) -> str:
    return f"{name} ({', '.join(map(words, terms))})" if terms else name


def _motion(item: Mapping[str, Any]) -> Motion:
    now, after = ({k: real(v) for k, v in mapping(item.get(when)).items()} for when in ("now", "after"))
    shares = {str(k): (a, now.get(k)) for k, a in after.items()}
    left = {k: a / n for k, (a, n) in shares.items() if a is not None and n}
    channels = tuple(_expected(c) for c in records(item.get("channels")))
    return Motion(
        whole(item.get("episode")),
        reals(item.get("time_s")),
        tuple(c for c in channels if any(v is not None for v in c.expected)),
        whole(item.get("draws")),
        real(item.get("usage")),
        left,
    )


def _expected(item: Mapping[str, Any]) -> Expected:
    part, limits = whole(item.get("part")), (real(item.get("limit_low")), real(item.get("limit_high")))
    name = words(item.get("name")) + ("" if part is None else f".{part}")
    series = {key: reals(item.get(key)) for key in ("expected", "low", "high", "measured")}
    return Expected(words(item.get("kind")), name, words(item.get("unit")), limits, **series)


def _map(item: Mapping[str, Any]) -> ResidualMap | None:
    x, y = _side(item.get("x")), _side(item.get("y"))
    rows, counts = (tuple(reals(row) for row in listed(item.get(what))) for what in ("mean", "count"))
    if x is None or y is None or not any(v is not None for row in rows for v in row):
        return None
    numbers = {key: real(item.get(key)) for key in ("ahead_s", "size", "noise", "follows")}
    return ResidualMap(
        words(item.get("channel")), words(item.get("unit")), x=x, y=y, mean=rows, count=counts, **numbers
    )


def _side(value: Any) -> Side | None:
    item = mapping(value)
    low, high = real(item.get("low")), real(item.get("high"))
    if low is None or high is None or high <= low:
        return None
    return Side(words(item.get("name")), words(item.get("unit")), low, high)
