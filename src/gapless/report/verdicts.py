"""Verdicts: how clearly the policy passed, in simulation and on the robot, and which episodes were stopped and why."""

from collections.abc import Sequence

from .markup import Markup, join
from .rows import Rows
from .scale import Scale
from .spoken import least_margin, margins, robot_margins
from .story import Crank, Story
from .svg import dot, picture, segment
from .tables import table, wrapped
from .wording import UNKNOWN, fixed, number

WORST = -1.0
"""Failures below this margin are drawn here."""


def margins_chart(cranks: Sequence[Crank], width: float) -> Markup:
    """For every crank a fine mark for each simulated start and a dot for each episode on the robot."""
    rows = Rows(width, tuple(c.name for c in cranks), tuple(least_margin(c) for c in cranks))
    across = rows.scale(WORST, 1.0)
    ticks = [(WORST, "−1 or less"), (0.0, "0 just passes"), (1.0, "1 nothing off")]
    grid = rows.axis(across, ticks, "margin of the verdict")
    limit = segment(across(0.0), rows.top, across(0.0), rows.floor, "limit")
    key = rows.key(
        (join(*(segment(x, -6, x, 6, "rug strong") for x in (-5, 0, 5))), "simulated"),
        (dot(0, 0, "measured", 4.5), "on the robot"),
    )
    marks = [_marks(across, rows.middle(i), c) for i, c in enumerate(cranks)]
    return picture(width, rows.height, margins(cranks), key, grid, limit, rows.captions(), *marks)


def judged(story: Story) -> list[Crank]:
    """Cranks with any margin to show."""
    return [c for c in story.cranks if any(v is not None for v in (*robot_margins(c), *_simulated(c)))]


def stops_table(story: Story) -> Markup | None:
    """Every episode that ended early, with its reason; None if there was none."""
    rows = [
        (
            c.name,
            r.purpose or UNKNOWN,
            _number(r.episode.number),
            _seconds(r.episode.seconds),
            wrapped(r.episode.stopped),
        )
        for c in story.cranks
        for r in c.runs
        if r.episode.stopped
    ]
    return table(("Crank", "Purpose", "Episode", "After", "Stopped because"), rows, (2, 3), "cards") if rows else None


def _marks(across: Scale, y: float, crank: Crank) -> Markup:
    simulated = [_clipped(v) for v in _simulated(crank) if v is not None]
    measured = [v for v in robot_margins(crank) if v is not None]
    fine = [segment(across(v), y - 7, across(v), y + 7, "rug strong") for v in simulated]
    tips = [f"{crank.name}\non the robot {number(v, 2)}" for v in measured]
    spots = [dot(across(_clipped(v)), y, "measured", 4.5, tip) for v, tip in zip(measured, tips, strict=True)]
    return join(*fine, *spots)


def _simulated(crank: Crank) -> Sequence[float | None]:
    return crank.check.margins if crank.check else ()


def _clipped(value: float) -> float:
    return min(max(value, WORST), 1.0)


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


def _seconds(value: float | None) -> str:
    return UNKNOWN if value is None else f"{fixed(value, 1)} s"
