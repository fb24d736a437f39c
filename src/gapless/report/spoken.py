"""What a chart shows, in words: for a mark that is pointed at, and for those who cannot see the chart."""

from collections.abc import Sequence

from .figures import Attribution, Curve, Estimate, Gap, Value, Values
from .story import Crank
from .wording import decimals_for, fixed, interval, number, percent, terse, with_unit

SERIES = (("before", "data sheet"), ("after", "learned"))
"""The two predictions that are always compared, as figures and page call them."""


def crank_tip(crank: Crank) -> str:
    """What was promised and what came."""
    lines = [crank.name]
    if crank.forecast:
        share = f"{percent(crank.forecast.share)} " if crank.forecast.share else ""
        lines.append(f"{share}forecast {interval(crank.forecast.low, crank.forecast.high)}")
    if crank.outcome:
        lines.append(f"on the robot {number(crank.outcome.mean)}")
    return "\n".join(lines)


def promises(cranks: Sequence[Crank]) -> str:
    return told("Forecast and return on the robot", [crank_tip(c).replace("\n", ", ") for c in cranks])


def ends(curve: Curve) -> str:
    """Where the three lines of a prediction end."""
    rows = (("measured", "measured"), *SERIES)
    said = [f"{name} {with_unit(number(last(getattr(curve, series))), curve.unit)}" for series, name in rows]
    return told(f"{curve.channel}, measured and predicted; at the end", [", ".join(said)])


def errors(gap: Gap, channel: str) -> str:
    rows = (*SERIES, ("floor", "noise floor"))
    said = [
        f"{terse(h, 2)} s ahead " + ", ".join(f"{name} {number(at(getattr(gap, s).get(channel, ()), k), 2)}" for s, name in rows)
        for k, h in enumerate(gap.horizons_s)
    ]  # fmt: skip
    return told(f"Prediction error of {channel} in deviations of the signal", said)


def gaps(cranks: Sequence[Crank]) -> str:
    said = [f"{c.name} {number(c.gap.total_before, 2)} to {number(c.gap.total_after, 2)}" for c in cranks if c.gap]
    return told("Gap half a second ahead, data sheet to learned", said)


def estimate_text(e: Estimate) -> str:
    """Mean and half the interval, e.g. 0.127 ± 0.003 kg."""
    if e.mean is None or e.low95 is None or e.high95 is None:
        return with_unit(number(e.mean), e.unit)
    half = (e.high95 - e.low95) / 2
    decimals = decimals_for(half)
    return with_unit(f"{fixed(e.mean, decimals)} ± {fixed(half, decimals)}", e.unit)


def beliefs(estimates: Sequence[Estimate]) -> str:
    said = [f"{e.name} {estimate_text(e)}, data sheet {terse(e.nominal)}" for e in estimates]
    return told("What is believed about each parameter", said)


def shares(attribution: Attribution) -> str:
    said = [f"{part.name} {percent(part.value)}" for part in (*attribution.families, *attribution.others)]
    return told("Shares of the data sheet’s error", said)


def lost(attribution: Attribution) -> str:
    said = [f"{part.name} {number(part.value)}" for part in attribution.losses]
    return told("Return that the policy loses by each cause", said)


def training(cranks: Sequence[Crank]) -> str:
    said = [f"{c.name} keeps {number(c.training.final)}" for c in cranks if c.training]
    return told("Return in simulation while training", said)


def margins(cranks: Sequence[Crank]) -> str:
    said = [f"{c.name} {least_margin(c)}" for c in cranks]
    return told("Margins of verdicts", said)


def least_margin(crank: Crank) -> str:
    """The smallest margin on the robot, or in simulation where it has not been on the robot."""
    on_robot = [v for v in robot_margins(crank) if v is not None]
    simulated = [v for v in (crank.check.margins if crank.check else ()) if v is not None]
    known = on_robot or simulated
    return f"least {number(min(known), 2)}" if known else "no verdict"


def robot_margins(crank: Crank) -> Values:
    """Margins of the episodes that a policy drove."""
    return tuple(r.episode.margin for r in crank.runs if r.purpose not in ("excite", "import"))


def last(values: Values) -> Value:
    """The last known value."""
    return next((v for v in reversed(values) if v is not None), None)


def at(values: Values, place: int) -> Value:
    return values[place] if place < len(values) else None


def told(what: str, parts: Sequence[str]) -> str:
    """One sentence: what is shown, and its parts."""
    return f"{what}: {'; '.join(parts)}." if parts else f"{what}."
