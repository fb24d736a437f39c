"""Whether a learned simulator may be trusted where policies go: errors against its doubt, and returns believed against real."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from gapless.core.artifact import write_text

from .document import Section, document
from .markup import Markup, join, tag
from .scale import log_span, span, thin
from .spoken import told
from .svg import Axis, Label, Margins, axes, clipped, dot, dots, end_labels, frame, line, picture
from .titled import both
from .wording import number

CLASSES = ("after", "before", "floor")
"""Of the first, second and third series."""
MOST = 400
"""Dots of a series that are drawn."""


@dataclass(frozen=True)
class Visits:
    """The periods that a policy visits in a learned simulator."""

    name: str
    disagreement: Sequence[float]
    error: Sequence[float]
    rank: float
    """Their rank correlation."""


@dataclass(frozen=True)
class Promise:
    """What a policy was believed to be worth, and what it is."""

    name: str
    believed: float
    real: float
    guarded: bool


def doubt_chart(visits: Sequence[Visits], width: float) -> Markup:
    """Error of single periods against how much members disagree about them, both axes logarithmic."""
    height = 320 if width > 500 else 280
    x = Axis("disagreement", *log_span(v for one in visits for v in one.disagreement), True)
    y = Axis("error", *log_span(v for one in visits for v in one.error), True)
    plot, marks = frame(width, height, x, y, Margins(right=92)), []
    for one, class_ in zip(visits, CLASSES, strict=False):
        kept = thin(len(one.error), MOST)
        marks.append(dots(plot, [one.disagreement[k] for k in kept], [one.error[k] for k in kept], class_, 2))
    ends = max(x.low, y.low), min(x.high, y.high)
    grid = axes(plot, "disagreement of members (typical changes of speed)", "error over a period (typical changes)")
    labels = [Label(v.name, median(v.error), c) for v, c in zip(visits, CLASSES, strict=False)]
    said = told("Error against disagreement", [f"{v.name}: rank correlation {number(v.rank, 2)}" for v in visits])
    return picture(
        width, height, said, grid, clipped(plot, line(plot, ends, ends, "floor"), *marks), end_labels(plot, labels)
    )


def promise_chart(promises: Sequence[Promise], width: float) -> Markup:
    """Returns believed against real ones; what lies on the dotted line was believed rightly."""
    height = 320 if width > 500 else 280
    low, high = span([v for p in promises for v in (p.believed, p.real)])
    plot = frame(width, height, Axis("real", low, high), Axis("believed", low, high), Margins(right=92))
    marks = [
        dot(plot.x(p.real), plot.y(p.believed), "after" if p.guarded else "before", 5.5, _tip(p)) for p in promises
    ]
    newest = {p.guarded: p for p in promises}
    words = {True: "with guards", False: "without"}
    labels = [Label(words[g], p.believed, "after" if g else "before") for g, p in newest.items()]
    grid = axes(plot, "return in MuJoCo", "return that was believed")
    said = told("Returns believed and real", [_tip(p).replace("\n", ", ") for p in promises])
    right = line(plot, (low, high), (low, high), "floor")
    return picture(width, height, said, grid, right, *marks, end_labels(plot, labels))


def trust_section(visits: Sequence[Visits], promises: Sequence[Promise]) -> Section:
    """Both charts, as a part of a page."""
    says = (
        "Where members of a learned simulator disagree, they are likely wrong: dots that climb to the right say that their "
        "doubt can be relied on. What a policy is believed to be worth should be what it is worth: dots on the dotted line."
    )
    charts = join(
        both("Error against disagreement, where policies go", lambda width: doubt_chart(visits, width)),
        both("Return that was believed against the real one", lambda width: promise_chart(promises, width)),
    )
    return Section("trust", "Trust in the clone", says, charts)


def write_trust(visits: Sequence[Visits], promises: Sequence[Promise], title: str, out: Path) -> Path:
    """A page of its own with both."""
    write_text(out, document(title, tag("header", tag("h1", title)), [trust_section(visits, promises)]))
    return out


def _tip(promise: Promise) -> str:
    return f"{promise.name}\nbelieved {number(promise.believed)}\nreal {number(promise.real)}"
