"""Pictures as SVG: a plot area with axes, and marks whose colours come from the page's style sheet."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .markup import Markup, join, tag
from .scale import Scale, Value, spread

LINE_HEIGHT = 15.0
LETTER = 7.2
"""Pixels that a letter of the charts' text takes at most, on average."""


@dataclass(frozen=True)
class Axis:
    """What one direction of a plot shows."""

    label: str
    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Margins:
    """Room around the plot area, in pixels."""

    left: float = 46
    right: float = 16
    top: float = 30
    bottom: float = 42


@dataclass(frozen=True)
class Frame:
    """A plot area inside a picture, with the scales that lead into it."""

    width: float
    height: float
    x: Scale
    y: Scale

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the plot area."""
        return self.x.start, self.y.end, self.x.end - self.x.start, self.y.start - self.y.end


@dataclass(frozen=True)
class Label:
    """A text that belongs to the mark at a height."""

    text: str
    at: float
    """The height, in the y axis's unit."""
    class_: str


def frame(width: float, height: float, x: Axis, y: Axis, margins: Margins) -> Frame:
    """The plot area that is left between the margins."""
    across = Scale(x.low, x.high, margins.left, width - margins.right, x.log)
    return Frame(width, height, across, Scale(y.low, y.high, height - margins.bottom, margins.top, y.log))


def picture(width: float, height: float, label: str, *marks: Markup) -> Markup:
    """The whole drawing, with a sentence for those who cannot see it."""
    size = f"0 0 {width:g} {height:g}"
    style = f"max-width:{width * 1.15:g}px"
    return tag("svg", *marks, viewBox=size, role="img", aria_label=label, style=style)


def axes(plot: Frame, x_label: str, y_label: str) -> Markup:
    """Grid, ticks and titles; the title of the y axis stands level above it."""
    left, top, width, height = plot.box
    bottom = top + height
    parts = []
    for value, words in plot.y.ticks(34):
        y = plot.y(value)
        parts += [segment(left, y, left + width, y, "grid"), text(left - 8, y + 4, words, "tick", "end")]
    for value, words in plot.x.ticks(44 if plot.x.log else 64):
        x = plot.x(value)
        parts += [segment(x, bottom, x, bottom + 4, "axis"), text(x, bottom + 18, words, "tick", "middle")]
    parts.append(segment(left, bottom, left + width, bottom, "axis"))
    parts.append(text(left + width / 2, bottom + 36, x_label, "title", "middle"))
    parts.append(text(2, 13, y_label, "title name", "start"))
    return join(*parts)


def clipped(plot: Frame, *marks: Markup) -> Markup:
    """Marks cut off at the edge of the plot area."""
    left, top, width, height = plot.box
    box = f"{left:g} {top:g} {width:g} {height:g}"
    return tag("svg", *marks, x=left, y=top, width=width, height=height, viewBox=box)


def line(plot: Frame, xs: Sequence[Value], ys: Sequence[Value], class_: str) -> Markup:
    """A line through the points, broken where a value is not known."""
    steps, pen_down = [], False
    for x, y in zip(xs, ys, strict=False):
        if x is None or y is None:
            pen_down = False
            continue
        steps.append(f"{'L' if pen_down else 'M'}{plot.x(x):.1f} {plot.y(y):.1f}")
        pen_down = True
    return tag("path", d="".join(steps), class_=f"line {class_}")


def area(plot: Frame, xs: Sequence[Value], lows: Sequence[Value], highs: Sequence[Value], class_: str) -> Markup:
    """What lies between two lines, where all is known."""
    known = [(x, a, b) for x, a, b in zip(xs, lows, highs, strict=False) if None not in (x, a, b)]
    there = [f"{plot.x(x):.1f} {plot.y(a):.1f}" for x, a, _ in known if x is not None and a is not None]
    back = [f"{plot.x(x):.1f} {plot.y(b):.1f}" for x, _, b in reversed(known) if x is not None and b is not None]
    return tag("path", d=f"M{'L'.join(there + back)}Z" if known else "", class_=class_)


def dots(plot: Frame, xs: Sequence[Value], ys: Sequence[Value], class_: str, radius: float = 2) -> Markup:
    """A dot at every point that is known."""
    known = ((x, y) for x, y in zip(xs, ys, strict=False) if x is not None and y is not None)
    return join(*(dot(plot.x(x), plot.y(y), class_, radius) for x, y in known))


def dot(x: float, y: float, class_: str, radius: float = 5, tip: str | None = None) -> Markup:
    return tag("circle", cx=x, cy=y, r=radius, class_=f"dot {class_}", data_tip=tip)


def segment(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def text(x: float, y: float, content: str, class_: str, anchor: str = "start") -> Markup:
    return tag("text", content, x=x, y=y, class_=class_, text_anchor=anchor)


def block(box: tuple[float, float, float, float], class_: str, tip: str | None = None) -> Markup:
    """A rectangle given by left, top, width and height."""
    x, y, width, height = box
    return tag("rect", x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), class_=class_, data_tip=tip)


def end_labels(plot: Frame, labels: Sequence[Label]) -> Markup:
    """Labels to the right of the plot area, each as near to its mark as the others allow."""
    left, top, width, height = plot.box
    wanted = [plot.y(label.at) for label in labels]
    heights = spread(wanted, LINE_HEIGHT, top + 2, top + height - 2)
    placed = zip(heights, labels, strict=True)
    return join(*(text(left + width + 8, y + 4, label.text, f"label {label.class_}") for y, label in placed))


def legend(plot: Frame, words: str, mark: Markup) -> Markup:
    """What a mark means, flush right above the plot area; the mark is drawn around (0, 0)."""
    left, _, width, _ = plot.box
    shown = tag("g", mark, transform=f"translate({left + width - 6:.1f} 9)")
    return join(text(left + width - 18, 13, words, "tick", "end"), shown)


def strips(plot: Frame, xs: Sequence[float], tips: Sequence[str]) -> Markup:
    """An unseen column around each x that shows its values when pointed at."""
    left, top, width, height = plot.box
    places = [plot.x(x) for x in xs]
    borders = [left, *((a + b) / 2 for a, b in pairwise(places)), left + width]
    columns = zip(pairwise(borders), tips, strict=False)
    return join(*(block((a, top, b - a, height), "strip", tip) for (a, b), tip in columns))
