"""Charts of one row a thing, with the name at the left or, on a phone, above."""

from collections.abc import Sequence
from dataclasses import dataclass

from .figures import Value
from .markup import Markup, join, tag
from .scale import Scale, span, thin
from .spoken import crank_tip, promises
from .story import Crank
from .svg import LETTER, block, dot, picture, segment, text
from .wording import number, shortened


@dataclass(frozen=True)
class Rows:
    """Where the rows of a chart lie; below 500 pixels the names stand above their rows."""

    width: float
    names: tuple[str, ...]
    notes: tuple[str, ...]
    top: float = 40
    bottom: float = 46

    @property
    def stacked(self) -> bool:
        return self.width < 500

    @property
    def left(self) -> float:
        return 0 if self.stacked else min(18 + LETTER * max(map(len, self.names)), 0.3 * self.width)

    @property
    def right(self) -> float:
        return 0 if self.stacked else min(18 + LETTER * max(map(len, self.notes)), 0.3 * self.width)

    @property
    def pitch(self) -> float:
        return 48 if self.stacked else 34

    @property
    def height(self) -> float:
        return self.top + self.pitch * len(self.names) + self.bottom

    @property
    def floor(self) -> float:
        """Where the axis lies."""
        return self.height - self.bottom

    def scale(self, low: float, high: float, inset: float = 14) -> Scale:
        """Across the rows; on a phone with room at the ends for half a mark."""
        inset = inset if self.stacked else 0
        return Scale(low, high, self.left + inset, self.width - self.right - inset)

    def middle(self, row: int) -> float:
        """The height at which a row's marks are centred."""
        return self.top + self.pitch * row + (32 if self.stacked else self.pitch / 2)

    def key(self, *entries: tuple[Markup, str]) -> Markup:
        """Above the rows, what each mark means; a mark is drawn around (0, 0) and takes 24 pixels."""
        parts, x = [], self.left if not self.stacked else 0.0
        for mark, words in entries:
            parts.append(tag("g", mark, transform=f"translate({x + 10:.1f} 10)"))
            parts.append(text(x + 24, 14, words, "tick"))
            x += 38 + LETTER * len(words)
        return join(*parts)

    def captions(self) -> Markup:
        """Name and note of every row."""
        parts = []
        for i, (name, note) in enumerate(zip(self.names, self.notes, strict=True)):
            y = self.middle(i) + (-15 if self.stacked else 4)
            parts.append(text(0, y, self._cut(name), "label ink"))
            if self.noted:
                parts.append(text(self.width, y, note, "label quiet number", "end"))
        return join(*parts)

    @property
    def noted(self) -> bool:
        """Whether notes fit beside the names; on a phone a long name comes first, and the table has the note."""
        longest = max(len(name) + len(note) for name, note in zip(self.names, self.notes, strict=True))
        return not self.stacked or LETTER * longest <= self.width

    def _cut(self, name: str) -> str:
        return shortened(name, int((self.width if self.stacked else self.left - 12) / LETTER))

    def axis(self, scale: Scale, ticks: Sequence[tuple[float, str]], title: str) -> Markup:
        parts = [segment(scale.start, self.floor, scale.end, self.floor, "axis")]
        for value, words in ticks:
            x = scale(value)
            anchor = "start" if x < 20 else "end" if x > self.width - 20 else "middle"
            parts += [segment(x, self.top, x, self.floor, "grid"), text(x, self.floor + 18, words, "tick", anchor)]
        return join(*parts, text((scale.start + scale.end) / 2, self.floor + 36, title, "title", "middle"))


def forecasts_chart(cranks: Sequence[Crank], width: float) -> Markup:
    """For every crank the interval stated beforehand, and a dot for what came."""
    rows = Rows(width, tuple(c.name for c in cranks), tuple(_judgement(c) for c in cranks))
    across = rows.scale(*span([v for c in cranks for v in _returns(c)], 0.05))
    grid = rows.axis(across, across.ticks(64), "return of an episode")
    key = rows.key(
        (join(block((-9, -7, 18, 14), "bar promise"), segment(0, -7, 0, 7, "middle")), "forecast"),
        (dot(0, 0, "after"), "inside"),
        (dot(0, 0, "before"), "outside"),
    )
    marks = [_forecast(across, rows.middle(i), c) for i, c in enumerate(cranks)]
    return picture(width, rows.height, promises(cranks), key, grid, rows.captions(), *marks)


def diamond(x: float, y: float, tip: str | None = None) -> Markup:
    """What was said beforehand."""
    return tag("path", d=f"M{x - 6:.1f} {y:.1f}l6 -6 6 6 -6 6z", class_="diamond", data_tip=tip)


def whisker(x1: float, x2: float, y: float, class_: str = "") -> Markup:
    """A line with a cap at each end; the caps show beside the dot however short the line is."""
    drawn = f"whisker {class_}".rstrip()
    caps = [segment(x, y - 7, x, y + 7, drawn) for x in (x1, x2)]
    return join(segment(x1, y, x2, y, drawn), *caps)


def _judgement(crank: Crank) -> str:
    if crank.hit is None:
        return "not deployed yet" if crank.outcome is None else "no forecast"
    got = number(crank.outcome.mean) if crank.outcome else ""
    return f"{got} {'inside' if crank.hit else 'outside'}"


def _returns(crank: Crank) -> list[Value]:
    f, o = crank.forecast, crank.outcome
    return [*((f.low, f.mean, f.high, *f.returns) if f else ()), *((o.mean, *o.returns) if o else ())]


def _forecast(across: Scale, y: float, crank: Crank) -> Markup:
    f, o, tip, marks = crank.forecast, crank.outcome, crank_tip(crank), []
    if f and f.low is not None and f.high is not None:
        marks.append(block((across(f.low), y - 7, max(across(f.high) - across(f.low), 3), 14), "bar promise", tip))
        rolled = [f.returns[i] for i in thin(len(f.returns), 60)]
        marks += [segment(across(v), y - 4, across(v), y + 4, "rug") for v in rolled if v is not None]
    if f and f.mean is not None:
        marks.append(segment(across(f.mean), y - 7, across(f.mean), y + 7, "middle"))
    if o and o.mean is not None:
        marks.append(dot(across(o.mean), y, "before" if crank.hit is False else "after", 5.5, tip))
    return join(*marks)
