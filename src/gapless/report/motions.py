"""The chosen motion: its commands, how it was expected to go in every simulation allowed, its limits, and what came."""

from collections.abc import Sequence

from .causes import bars
from .charts import PANEL
from .evidence import Expected, Motion
from .figures import Part, Values, without_turns
from .markup import Markup, join
from .scale import span, thin
from .spoken import last, told
from .svg import (
    Axis,
    Frame,
    Label,
    Margins,
    area,
    axes,
    block,
    clipped,
    dots,
    end_labels,
    frame,
    legend,
    line,
    picture,
    segment,
    strips,
)
from .wording import NO_BREAK_SPACE, number, shortened, terse, with_unit

FAR = 6.0
"""Limits farther apart than so many times the motion are told and not drawn."""
AWAY = 0.5
"""How far beyond the motion draws are shown, as a share of its range."""
NAME_LETTERS = 34


def motion_chart(motion: Motion, channel: Expected) -> Markup:
    """One channel: the line as expected, the band over all draws, dots as it came, dashes for the limits."""
    channel = _level(channel)
    times = [t for t in motion.time_s if t is not None]
    limits = _drawn_limits(channel)
    x = Axis("time", 0.0, max(times, default=0.0) or 1.0)
    plot = frame(*PANEL, x, Axis(channel.name, *_room_for(channel, limits)), Margins(right=78))
    came = "sent" if channel.kind == "command" else "measured"
    dashes = [segment(plot.x.start, plot.y(v), plot.x.end, plot.y(v), "limit strong") for v in limits]
    band = area(plot, motion.time_s, channel.low, channel.high, "band")
    foreseen = line(plot, motion.time_s, channel.expected, "after")
    places = thin(len(motion.time_s), 75)
    seen = dots(plot, _pick(motion.time_s, places), _pick(channel.measured, places), "measured", 1.7)
    labels = [Label("limit", v, "quiet") for v in limits]
    labels += [Label(w, v, c) for w, v, c in (("expected", last(channel.expected), "after"),
                                              (came, last(channel.measured), "measured")) if v is not None]  # fmt: skip
    title = with_unit(shortened(channel.name, NAME_LETTERS), channel.unit and f"({channel.unit})")
    drawn = [axes(plot, "time (s)", title), clipped(plot, band, foreseen, seen), *dashes, end_labels(plot, labels)]
    drawn.append(legend(plot, "all draws", block((-8, -6, 16, 12), "band")))
    return picture(*PANEL, motion_spoken(channel, came), *drawn, _tips(plot, motion, channel, came))


def motion_spoken(channel: Expected, came: str) -> str:
    foreseen = [v for v in (*channel.low, *channel.high) if v is not None]
    ends = (
        [f"from {number(min(foreseen))} to {with_unit(number(max(foreseen)), channel.unit)} expected"]
        if foreseen
        else []
    )
    known = [v for v in channel.measured if v is not None]
    ends += [f"{number(min(known))} to {number(max(known))} {came}"] if known else []
    ends += [f"limits {number(channel.limits[0])} and {number(channel.limits[1])}"] if any(channel.limits) else []
    return told(f"{channel.name} during the chosen motion", ends)


def teaching_chart(motion: Motion, width: float) -> Markup:
    """The share of each parameter's doubt that the motion was expected to leave."""
    parts = [(Part(name, share), "after") for name, share in motion.left.items()]
    said = told("Doubt expected to be left", [f"{part.name} {_share(part.value)}" for part, _ in parts])
    return bars(parts, width, (0.0, _share, "deviation expected after the motion, of that before"), said)


def _room_for(channel: Expected, limits: Sequence[float]) -> tuple[float, float]:
    """Heights that show what was expected and what came whole, and the draws until they have run away."""
    low, high = span([*channel.expected, *channel.measured, *limits])
    away = AWAY * (high - low)
    lowest, highest = span([low, high, *channel.low, *channel.high], 0.0)
    return max(lowest, low - away), min(highest, high + away)


def _drawn_limits(channel: Expected) -> list[float]:
    known = [v for v in (*channel.expected, *channel.measured) if v is not None]
    wide = max(known) - min(known)
    return [
        v for v in channel.limits if v is not None and min(abs(v - k) for k in (min(known), max(known))) < FAR * wide
    ]


def _level(channel: Expected) -> Expected:
    """Angles without the jumps of whole turns, where nothing but them makes them jump."""
    if channel.unit != "rad":
        return channel
    return Expected(
        channel.kind, channel.name, channel.unit, channel.limits, channel.expected, channel.low, channel.high,
        without_turns(channel.measured, last(channel.expected[:1])),
    )  # fmt: skip


def _share(value: float) -> str:
    return f"{terse(100 * value, 2)}{NO_BREAK_SPACE}%"


def _pick(values: Values, places: Sequence[int]) -> list[float | None]:
    return [values[i] if i < len(values) else None for i in places]


def _tips(plot: Frame, motion: Motion, channel: Expected, came: str) -> Markup:
    places = [i for i in thin(len(motion.time_s), 60) if motion.time_s[i] is not None]
    rows = (
        ("expected", channel.expected),
        ("lowest", channel.low),
        ("highest", channel.high),
        (came, channel.measured),
    )
    tips = [
        "\n".join([f"{terse(motion.time_s[i])} s", *(f"{w} {number(v[i])}" for w, v in rows if i < len(v))])
        for i in places
    ]
    return join(strips(plot, [motion.time_s[i] or 0.0 for i in places], tips))
