"""What the artifacts' figures say, read into types; a figure that is missing or null becomes None or nothing."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

Value = float | None
Values = tuple[Value, ...]


@dataclass(frozen=True)
class Estimate:
    """One parameter before and after the fit, in its unit."""

    name: str
    unit: str
    family: str
    nominal: Value
    prior_low: Value
    prior_high: Value
    mean: Value
    low95: Value
    high95: Value


@dataclass(frozen=True)
class Episode:
    """One episode on the robot, whole or not."""

    number: int | None
    seconds: Value
    passed: bool | None
    margin: Value
    """1 where nothing was off, negative where the verdict is a failure."""
    stopped: str
    """Why it ended early; empty if it did not."""


@dataclass(frozen=True)
class Check:
    """How the policy did in simulators that the belief allows."""

    passed: int | None
    of: int | None
    margins: Values


@dataclass(frozen=True)
class Curve:
    """One channel of the held-out window: measured, and predicted by the nominal and by the identified model."""

    channel: str
    unit: str
    time_s: Values
    measured: Values
    before: Values
    after: Values


@dataclass(frozen=True)
class Gap:
    """Prediction error per channel and horizon, in units of the signal's deviation."""

    horizons_s: Values
    before: dict[str, Values]
    after: dict[str, Values]
    floor: dict[str, Values]
    total_before: Value
    """Median error at half a second above the floor, for the nominal model."""
    total_after: Value
    """The same for the belief's mean."""
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Part:
    """What one cause comes to, with the interval around it where it is known."""

    name: str
    value: float
    low: Value = None
    high: Value = None


@dataclass(frozen=True)
class Attribution:
    """Parts of the nominal model's error, which add up to one, and what the policy loses by each cause."""

    families: tuple[Part, ...]
    """Each cause with its share of the error, the largest first."""
    others: tuple[Part, ...]
    """Numerics, noise, and what nothing explains."""
    losses: tuple[Part, ...]
    """Each cause with the return it costs, the largest first."""
    together: Value
    unexplained: Value
    repeatability: Value = None
    """What the machine itself differs by when commands are repeated, as a share of the same error."""
    varied: tuple[str, ...] = ()
    """Parameters that vary within the logs, and how, in words."""


@dataclass(frozen=True)
class Training:
    """How a policy came to its return."""

    steps: Values
    returns: Values
    final: Value


@dataclass(frozen=True)
class Forecast:
    """The interval stated before the robot moved."""

    low: Value
    mean: Value
    high: Value
    share: Value
    returns: Values


@dataclass(frozen=True)
class Outcome:
    """What then happened on the robot."""

    mean: Value
    returns: Values
    inside: bool | None
    passed: int | None
    of: int | None


def read_estimates(figures: Mapping[str, Any]) -> tuple[Estimate, ...]:
    return tuple(_estimate(item) for item in records(figures.get("parameters")))


def read_episodes(figures: Mapping[str, Any]) -> tuple[Episode, ...]:
    return tuple(_episode(item) for item in records(figures.get("episodes")))


def read_aborted(figures: Mapping[str, Any]) -> tuple[Episode, ...]:
    """The one episode of an aborted recording; its robot seconds include the reset, so its own are not known."""
    return (Episode(None, None, None, None, words(figures.get("reason")) or "not said"),)


def read_check(figures: Mapping[str, Any]) -> Check:
    return Check(whole(figures.get("passed")), whole(figures.get("of")), reals(figures.get("margins")))


def read_gap(figures: Mapping[str, Any]) -> Gap:
    summary = mapping(figures.get("summary"))
    errors = {when: _by_channel(figures.get(when)) for when in ("before", "after", "floor")}
    total_before, total_after = real(summary.get("before")), real(summary.get("after"))
    curves = tuple(_curve(item) for item in records(figures.get("curves")))
    return Gap(
        reals(figures.get("horizons_s")), **errors, total_before=total_before, total_after=total_after, curves=curves
    )


def unwound(curve: Curve) -> Curve:
    """The same curve; where it is an angle, without the jumps of whole turns."""
    if curve.unit != "rad":
        return curve
    series = ("measured", "before", "after")
    return replace(curve, **{name: without_turns(getattr(curve, name)) for name in series})


def read_attribution(figures: Mapping[str, Any]) -> Attribution:
    families, others = records(figures.get("families")), records(figures.get("others"))
    together, unexplained = real(figures.get("together")), real(figures.get("unexplained"))
    known = _parts(others, "name", "explained")
    if not known and unexplained is not None:
        known = (Part("unexplained", unexplained),)
    causes, losses = (_largest_first(_parts(families, "family", what)) for what in ("explained", "loss"))
    varied = tuple(words(said) for said in listed(figures.get("varied")))
    return Attribution(causes, known, losses, together, unexplained, real(figures.get("repeatability")), varied)


def _parts(items: list[Mapping[str, Any]], name: str, what: str) -> tuple[Part, ...]:
    found = [(words(f.get(name)), *(real(f.get(what + end)) for end in ("", "_low", "_high"))) for f in items]
    return tuple(Part(called, value, low, high) for called, value, low, high in found if value is not None)


def _largest_first(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda part: -abs(part.value)))


def read_training(figures: Mapping[str, Any]) -> Training:
    points = [reals(p) for p in listed(figures.get("curve"))]
    known = [p for p in points if len(p) == 2 and p[0] is not None]
    return Training(tuple(p[0] for p in known), tuple(p[1] for p in known), real(figures.get("return")))


def read_forecast(figures: Mapping[str, Any]) -> Forecast:
    ends = (real(figures.get(name)) for name in ("low", "mean", "high", "share"))
    return Forecast(*ends, returns=reals(figures.get("returns")))


def read_outcome(figures: Mapping[str, Any]) -> Outcome:
    inside = figures.get("inside")
    return Outcome(
        mean=real(figures.get("return")),
        returns=reals(figures.get("returns")),
        inside=inside if isinstance(inside, bool) else None,
        passed=whole(figures.get("passed")),
        of=whole(figures.get("of")),
    )


def real(value: Any) -> Value:
    """The value if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def whole(value: Any) -> int | None:
    known = real(value)
    return None if known is None else round(known)


def reals(value: Any) -> Values:
    return tuple(real(v) for v in listed(value))


def words(value: Any) -> str:
    return "" if value is None else str(value)


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def records(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in listed(value) if isinstance(item, Mapping)]


def _estimate(item: Mapping[str, Any]) -> Estimate:
    measures = ("nominal", "prior_low", "prior_high", "mean", "low95", "high95")
    return Estimate(
        words(item.get("name")),
        words(item.get("unit")),
        words(item.get("family")),
        **{name: real(item.get(name)) for name in measures},
    )


def _episode(item: Mapping[str, Any]) -> Episode:
    passed = item.get("passed")
    return Episode(
        whole(item.get("episode")),
        real(item.get("seconds")),
        passed if isinstance(passed, bool) else None,
        real(item.get("margin")),
        words(item.get("stopped")),
    )


def _curve(item: Mapping[str, Any]) -> Curve:
    values = {name: reals(item.get(name)) for name in ("time_s", "measured", "before", "after")}
    return Curve(words(item.get("channel")), words(item.get("unit")), **values)


def _by_channel(value: Any) -> dict[str, Values]:
    return {str(channel): reals(errors) for channel, errors in mapping(value).items()}


def without_turns(values: Values, before: Value = None) -> Values:
    """Angles that follow each other, the first of them `before`, by less than half a turn."""
    found: list[Value] = []
    for value in values:
        if value is not None:
            turns = 0.0 if before is None else round((value - before) / math.tau)
            before = value - math.tau * turns
        found.append(None if value is None else before)
    return tuple(found)
