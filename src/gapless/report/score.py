"""The forecast keeps its own score: how many outcomes fell inside their intervals, beside what was claimed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .markup import Markup, join
from .rows import Rows, diamond, whisker
from .scale import Scale
from .spoken import crank_tip, told
from .story import Crank, Story
from .svg import block, dot, picture
from .wording import count, percent

ALL = "all"
NORMAL_95 = 1.96
PLACES = ((-0.75, "far below"), (0.0, "low end"), (1.0, "high end"), (1.75, "far above"))
"""Marks on the axis of places; what lies farther out is drawn at its ends."""


@dataclass(frozen=True)
class Score:
    """How the forecasts of one workspace, or of all, went."""

    name: str
    inside: int
    of: int
    claimed: float | None
    """The mean share that the forecasts claimed, from 0 to 1."""

    @property
    def share(self) -> float | None:
        return self.inside / self.of if self.of else None

    @property
    def says(self) -> str:
        """e.g. 5 of 6 inside, 80 % claimed."""
        claimed = f", {percent(self.claimed)} claimed" if self.claimed is not None else ""
        return f"{self.inside} of {self.of} inside{claimed}" if self.of else "no outcome yet"


def score(name: str, stories: Sequence[Story]) -> Score:
    """The score over every outcome of these stories that had a forecast."""
    judged = [c for s in stories for c in s.cranks if c.hit is not None]
    shares = [c.forecast.share for c in judged if c.forecast and c.forecast.share is not None]
    return Score(name, sum(bool(c.hit) for c in judged), len(judged), sum(shares) / len(shares) if shares else None)


def wilson(inside: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share after so many trials (Wilson, 1927)."""
    share, z2 = inside / of, NORMAL_95**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = NORMAL_95 / (1 + z2 / of) * math.sqrt(share * (1 - share) / of + z2 / (4 * of**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def score_chart(scores: Sequence[Score], width: float) -> Markup:
    """A row for each score: claimed as a diamond, what came as a dot with the 95 % interval of so few trials."""
    rows = Rows(width, tuple(s.name for s in scores), tuple(f"{s.inside} of {s.of}" for s in scores))
    across = rows.scale(0.0, 1.0)
    grid = rows.axis(across, [(i / 4, percent(i / 4)) for i in range(5)], "outcomes inside the stated interval")
    key = rows.key(
        (diamond(0, 0), "claimed"), (join(whisker(-8, 8, 0), dot(0, 0, "after", 4)), "came true, 95 % interval")
    )
    marks = [_scored(across, rows.middle(i), s) for i, s in enumerate(scores)]
    spoken = told("Outcomes inside the stated interval", [f"{s.name} {s.says}" for s in scores])
    return picture(width, rows.height, spoken, key, grid, rows.captions(), *marks)


def places_chart(stories: Sequence[tuple[str, Story]], width: float) -> Markup:
    """Where in its interval each outcome fell: a row for each workspace, a dot for each crank."""
    rows = Rows(width, tuple(name for name, _ in stories), tuple(_inside(s) for _, s in stories))
    across = rows.scale(PLACES[0][0], PLACES[-1][0])
    grid = rows.axis(across, PLACES, "place of the return in the interval stated beforehand")
    key = rows.key(
        (block((-9, -7, 18, 14), "bar promise"), "interval"),
        (dot(0, 0, "after"), "inside"),
        (dot(0, 0, "before"), "outside"),
    )
    marks = [_placed(across, rows.middle(i), story) for i, (_, story) in enumerate(stories)]
    spoken = told("Outcomes in their intervals", [f"{name} {_inside(s)}" for name, s in stories])
    return picture(width, rows.height, spoken, key, grid, rows.captions(), *marks)


def place(crank: Crank) -> float | None:
    """Where in its interval the return fell: 0 at the low end, 1 at the high end."""
    stated, outcome = crank.forecast, crank.outcome
    if stated is None or outcome is None or stated.low is None or stated.high is None or outcome.mean is None:
        return None
    return (outcome.mean - stated.low) / (stated.high - stated.low) if stated.high > stated.low else None


def _inside(story: Story) -> str:
    return f"{sum(story.hits)} of {count(len(story.hits), 'outcome')} inside"


def _scored(across: Scale, y: float, score: Score) -> Markup:
    marks = []
    if score.of:
        low, high = wilson(score.inside, score.of)
        spot = dot(across(score.inside / score.of), y, "after plain", 4, f"{score.name}\n{score.says}")
        marks += [whisker(across(low), across(high), y), spot]
    if score.claimed is not None:
        marks.insert(0, diamond(across(score.claimed), y))
    return join(*marks)


def _placed(across: Scale, y: float, story: Story) -> Markup:
    marks = [block((across(0.0), y - 7, across(1.0) - across(0.0), 14), "bar promise")]
    for crank in story.cranks:
        where = place(crank)
        if where is not None:
            x = across(min(max(where, across.low), across.high))
            marks.append(dot(x, y, "before" if crank.hit is False else "after", 5, crank_tip(crank)))
    return join(*marks)
