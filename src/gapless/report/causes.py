"""What causes the gap, as bars with their intervals: in prediction error, and in what the policy loses."""

from collections.abc import Callable, Sequence

from .figures import Attribution, Part
from .markup import Markup, join
from .rows import Rows, whisker
from .scale import Scale
from .spoken import lost, shares
from .svg import block, picture
from .wording import number, percent

STYLES = {"unexplained": "rest"}
"""Bars that are no cause."""


def causes_chart(attribution: Attribution, width: float) -> Markup:
    """Shares of the data sheet's error: every cause, then numerics, noise and what nothing explains."""
    shown = [(part, "after") for part in attribution.families]
    shown += [(part, STYLES.get(part.name, "total")) for part in attribution.others]
    title = "share of the data sheet’s error"
    return bars(shown, width, (1.0, percent, title), shares(attribution))


def losses_chart(attribution: Attribution, width: float) -> Markup:
    """The return that each cause costs the policy."""
    shown = [(part, "after") for part in attribution.losses]
    return bars(shown, width, (0.0, number, "return lost"), lost(attribution))


def bars(
    shown: Sequence[tuple[Part, str]], width: float, axis: tuple[float, Callable[[float], str], str], said: str
) -> Markup:
    """A bar for each part, with its style; the axis reaches its first number, writes its values so, and has this title."""
    least, written, title = axis
    rows = Rows(width, tuple(part.name for part, _ in shown), tuple(written(part.value) for part, _ in shown), 6)
    ends = [v for part, _ in shown for v in (part.value, part.low, part.high) if v is not None]
    low, high = min(0.0, *ends), max(least, 0.0, *ends)
    across = rows.scale(low, high if high > low else low + 1.0, inset=0)
    ticks = [(value, written(value)) for value, _ in across.ticks(96)]
    if any(part.low is not None and part.high is not None for part, _ in shown):
        title += ", with its 90 % interval"
    marks = [_bar(across, rows.middle(i), part, class_, written) for i, (part, class_) in enumerate(shown)]
    return picture(width, rows.height, said, rows.axis(across, ticks, title), rows.captions(), *marks)


def _bar(across: Scale, y: float, part: Part, class_: str, written: Callable[[float], str]) -> Markup:
    begin, end = sorted((across(0.0), across(part.value)))
    tip = written(part.value)
    if part.low is None or part.high is None:
        return block((begin, y - 8, end - begin, 16), f"bar {class_}", tip)
    tip += f"\n90 % {written(part.low)} to {written(part.high)}"
    return join(
        block((begin, y - 8, end - begin, 16), f"bar {class_}", tip),
        whisker(across(part.low), across(part.high), y, "over"),
    )
