"""Interval plots: each parameter's prior range, data sheet and belief, and what the logs could not tell."""

from collections.abc import Sequence

from gapless.learn.tempering import BEND

from .causes import bars
from .figures import Estimate, Part, Value
from .fits import Fit
from .markup import Markup, join
from .rows import Rows, diamond, whisker
from .scale import Scale
from .spoken import beliefs, estimate_text, told
from .svg import dot, picture, segment
from .tables import table, wrapped
from .wording import count, interval, number, terse, with_unit

UNTOLD = "not told"


def parameters_chart(estimates: Sequence[Estimate], fit: Fit | None, width: float) -> Markup:
    """Every parameter on its own prior range: data sheet as a diamond, belief as a dot with its 95 % interval."""
    unknown = fit.alone if fit else ()
    rows = Rows(width, tuple(e.name for e in estimates), tuple(_note(e, unknown) for e in estimates))
    across = rows.scale(0.0, 1.0)
    grid = rows.axis(across, [(0.0, "lowest"), (0.5, "middle"), (1.0, "highest")], "place in the prior range")
    key = rows.key(
        (segment(-8, 0, 8, 0, "track"), "prior range"),
        (diamond(0, 0), "data sheet"),
        (join(whisker(-8, 8, 0), dot(0, 0, "after", 4)), "belief, 95 %"),
    )
    marks = [_estimate(across, rows.middle(i), e, e.name in unknown) for i, e in enumerate(estimates)]
    return picture(width, rows.height, beliefs(estimates), key, grid, rows.captions(), *marks)


def combination_chart(fit: Fit, width: float) -> Markup:
    """Members of each combination that leaves no trace, and how they may move together."""
    named = [
        (f"{'and ' if k else ''}{name}", weight) for combination in fit.together for k, (name, weight) in enumerate(combination)
    ]  # fmt: skip
    parts = [(Part(name, weight), "after" if not name.startswith("and ") else "total") for name, weight in named]
    said = told("Parameters that the logs tell only together", [" and ".join(n for n, _ in c) for c in fit.together])
    return bars(parts, width, (0.0, _weight, "deviations of the prior, the first of each as 1"), said)


def fit_table(fit: Fit) -> Markup | None:
    """How the belief was come by; None where nothing is known of it."""
    rows: list[tuple[str, str]] = []
    if fit.chi_square_before is not None:
        rows.append(("Held-out chi-square", f"{number(fit.chi_square_before, 2)} → {number(fit.chi_square, 2)}"))
    if fit.window_s is not None:
        windows = count(fit.windows, "window") if fit.windows is not None else "windows"
        rows.append(("Compared in", f"{windows} of {terse(fit.window_s, 2)} s, chosen from how fast motions part"))
    if fit.agreeing is not None:
        rows.append(("Beginnings of the search that agree", f"{fit.agreeing[0]} of {fit.agreeing[1]}"))
    if fit.bend is not None:
        shape = "a Gaussian" if fit.bend < BEND else "no Gaussian"
        rows.append(("Shape of the belief", f"{shape}: its cost is up to {number(fit.bend, 2)} times a parabola’s"))
    if fit.chi_square_before is not None or fit.untold:
        rows.append(("What the logs could not tell", fit.untold or "nothing: they say something about every parameter"))
    if fit.refused:
        rows.append(("Refused", fit.refused))
    shown = [(wrapped(what), wrapped(found)) for what, found in rows]
    return table(("The fit", "Found"), shown, ()) if shown else None


def _note(e: Estimate, unknown: Sequence[str]) -> str:
    return UNTOLD if e.name in unknown else estimate_text(e)


def _place(e: Estimate, value: Value) -> float | None:
    """Where a value lies in the prior range, from 0 to 1; what lies outside is drawn just outside."""
    if value is None or e.prior_low is None or e.prior_high is None or e.prior_high <= e.prior_low:
        return None
    return min(max((value - e.prior_low) / (e.prior_high - e.prior_low), -0.02), 1.02)


def _estimate(across: Scale, y: float, e: Estimate, unknown: bool) -> Markup:
    low, mean, high, nominal = (_place(e, v) for v in (e.low95, e.mean, e.high95, e.nominal))
    tip = f"{e.name}\ndata sheet {with_unit(number(e.nominal), e.unit)}\n95 % {interval(e.low95, e.high95)}"
    tip += "\nthe logs do not tell it" if unknown else ""
    marks = [segment(across.start, y, across.end, y, "track")]
    if nominal is not None:
        x = across(nominal)
        marks.append(diamond(x, y, tip))
    if low is not None and high is not None:
        marks.append(whisker(across(low), across(high), y, "pale" if unknown else ""))
    if mean is not None:
        marks.append(dot(across(mean), y, "floor plain" if unknown else "after plain", 4, tip))
    return join(*marks)


def _weight(value: float) -> str:
    return f"+{number(value, 2)}" if value > 0 else number(value, 2)
