"""Charts with two axes: returns, predictions, gaps and learning curves."""

import math
from collections.abc import Sequence

from .figures import Curve, Gap, Training, Value, Values, unwound
from .markup import Markup, join
from .scale import log_span, span, thin
from .spoken import SERIES, at, crank_tip, ends, errors, gaps, last, promises, training
from .story import Crank, Story
from .svg import (
    LINE_HEIGHT,
    Axis,
    Frame,
    Label,
    Margins,
    axes,
    block,
    clipped,
    dot,
    dots,
    end_labels,
    frame,
    legend,
    line,
    picture,
    segment,
    strips,
    text,
)
from .wording import number, with_unit

NAME_WIDTH = 56.0
"""Pixels between the names of two cranks."""
PANEL = (404.0, 250.0)
"""Width and height of one of several small charts side by side."""


def returns_chart(cranks: Sequence[Crank], width: float, until_s: float = 0.0) -> Markup:
    """Return on the robot against robot seconds, with what was forecast for each crank; the axis reaches `until_s`."""
    shown = [c for c in cranks if c.forecast or c.outcome]
    ends = [v for c in shown for v in _stated(c)]
    y = Axis("return", *span([*ends, *(_got(c) for c in shown)], 0.14))
    x = Axis("robot seconds", 0.0, 1.04 * max(until_s, *(c.until_s for c in shown)) or 1.0)
    height = 320 if width > 500 else 280
    plot = frame(width, height, x, y, Margins(right=92))
    track = line(plot, [c.until_s for c in shown], [_got(c) for c in shown], "after faint")
    marks = [_promise_and_result(plot, c) for c in shown]
    grid = axes(plot, "robot seconds spent so far (s)", "return of an episode")
    drawn = [grid, track, *marks, _crank_names(plot, shown), _keys(plot, shown)]
    return picture(width, height, promises(shown), *drawn)


def prediction_chart(curve: Curve) -> Markup:
    """One channel of the held-out window: dots as measured, lines as predicted."""
    curve = unwound(curve)
    times = [t for t in curve.time_s if t is not None]
    x = Axis("time", *((min(times), max(times)) if len(times) > 1 else (0.0, 1.0)))
    plot = frame(*PANEL, x, Axis(curve.channel, *_room_for(curve)), Margins(right=78))
    lines = [_thinned(plot, curve.time_s, getattr(curve, series), series) for series, _ in SERIES]
    sampled = thin(len(curve.time_s), 50)
    seen = dots(plot, _pick(curve.time_s, sampled), _pick(curve.measured, sampled), "measured", 2)
    labels = [Label(words, *_end(getattr(curve, series), series)) for series, words in SERIES]
    labels.insert(0, Label("measured", *_end(curve.measured, "measured")))
    drawn = [axes(plot, "time (s)", with_unit(curve.channel, curve.unit and f"({curve.unit})"))]
    drawn += [clipped(plot, *lines, seen), end_labels(plot, _within(plot, labels)), _curve_tips(plot, curve)]
    return picture(*PANEL, ends(curve), *drawn)


def gap_chart(gap: Gap, channel: str, heights: tuple[float, float]) -> Markup:
    """One channel's prediction error against the horizon, both axes logarithmic."""
    low, high = log_span(gap.horizons_s)
    plot = frame(*PANEL, Axis("horizon", low, high, True), Axis("error", *heights, True), Margins(right=78))
    marks, labels = [], []
    for series, words in (("floor", "noise floor"), *SERIES):
        known = tuple(map(_positive, getattr(gap, series).get(channel, ())))
        marks.append(line(plot, gap.horizons_s, known, series))
        marks.append(dots(plot, gap.horizons_s, known, series, 3 if series != "floor" else 0))
        if any(v is not None for v in known):
            labels.append(Label(words, *_end(known, series)))
    drawn = [axes(plot, "prediction horizon (s)", "error (deviations of the signal)")]
    drawn += [*marks, end_labels(plot, labels), _gap_tips(plot, gap, channel)]
    return picture(*PANEL, errors(gap, channel), *drawn)


def gap_heights(gap: Gap) -> tuple[float, float]:
    """One range of errors for all channels, so that their charts can be compared."""
    every = (gap.before, gap.after, gap.floor)
    return log_span(v for errors in every for values in errors.values() for v in values)


def gap_history_chart(story: Story, until_s: float, heights: tuple[float, float]) -> Markup:
    """The gap of every crank against robot seconds: data sheet and learned, the vertical axis logarithmic."""
    shown = story.having("gap")
    x, y = Axis("robot seconds", 0.0, 1.04 * until_s or 1.0), Axis("gap", *heights, True)
    plot = frame(*PANEL, x, y, Margins(right=78))
    spent, marks, labels = [c.until_s for c in shown], [], []
    for series, words in SERIES:
        known = tuple(_positive(getattr(c.gap, f"total_{series}")) for c in shown)
        marks += [line(plot, spent, known, series), dots(plot, spent, known, series, 4)]
        if last(known) is not None:
            labels.append(Label(words, *_end(known, series)))
    grid = axes(plot, "robot seconds spent so far (s)", "gap at 0.5 s (deviations)")
    return picture(*PANEL, gaps(shown), grid, *marks, end_labels(plot, labels))


def history_heights(stories: Sequence[Story]) -> tuple[float, float]:
    """One range of gaps for several workspaces."""
    found = [c.gap for s in stories for c in s.cranks if c.gap]
    return log_span(v for gap in found for v in (gap.total_before, gap.total_after))


def learning_chart(cranks: Sequence[Crank], width: float) -> Markup:
    """Return in simulation against environment steps, one line a crank, the newest in full colour."""
    runs = [(c.name, c.training) for c in cranks if c.training and any(v is not None for v in c.training.returns)]
    steps = [s for _, run in runs for s in run.steps if s is not None]
    y = Axis("return", *span(v for _, run in runs for v in run.returns))
    height = 320 if width > 500 else 280
    plot = frame(width, height, Axis("steps", 0.0, max(steps) or 1.0), y, Margins(right=92))
    shades = [f"after shade{min(len(runs) - 1 - i, 3)}" for i in range(len(runs))]
    lines = [_run(plot, name, run, shade) for (name, run), shade in zip(runs, shades, strict=True)]
    room = int(plot.box[3] / LINE_HEIGHT)
    labels = [Label(name, *_end(run.returns, "after")) for name, run in runs[-room:]]
    grid = axes(plot, "environment steps", "return in simulation")
    kept = legend(plot, "policy kept", dot(0, 0, "after", 4.5))
    drawn = [grid, *lines, end_labels(plot, labels), kept]
    return picture(width, height, training(cranks), *drawn)


def _positive(value: Value) -> Value:
    """The value if a logarithmic axis can show it."""
    return value if value is not None and value > 0 else None


def _stated(crank: Crank) -> Values:
    f = crank.forecast
    return (f.low, f.mean, f.high) if f else ()


def _got(crank: Crank) -> Value:
    return crank.outcome.mean if crank.outcome else None


def _promise_and_result(plot: Frame, crank: Crank) -> Markup:
    x, f, got, marks = plot.x(crank.until_s), crank.forecast, _got(crank), []
    if f and f.low is not None and f.high is not None:
        top, bottom = plot.y(f.high), plot.y(f.low)
        marks.append(block((x - 7, top, 14, max(bottom - top, 3)), "bar promise", crank_tip(crank)))
    if f and f.mean is not None:
        marks.append(segment(x - 7, plot.y(f.mean), x + 7, plot.y(f.mean), "middle"))
    if got is not None:
        marks.append(dot(x, plot.y(got), "before" if crank.hit is False else "after", 5.5, crank_tip(crank)))
    return join(*marks)


def _crank_names(plot: Frame, cranks: Sequence[Crank]) -> Markup:
    """Cranks' names above their marks, the newest first; one that would touch the last is left out."""
    named: list[Markup] = []
    room = math.inf
    for crank in reversed(cranks):
        x, heights = plot.x(crank.until_s), [plot.y(v) for v in (*_stated(crank), _got(crank)) if v is not None]
        if heights and x <= room:
            named.append(text(x, max(min(heights) - 12, 26), crank.name, "label quiet", "middle"))
            room = x - NAME_WIDTH
    return join(*named)


def _keys(plot: Frame, cranks: Sequence[Crank]) -> Markup:
    """What bar and dot mean, written next to the last of each."""
    labels = []
    last = cranks[-1]
    if last.forecast and last.forecast.mean is not None:
        labels.append(Label("forecast", last.forecast.mean, "quiet"))
    got = _got(last)
    if got is not None:
        labels.append(Label("on the robot", got, "before" if last.hit is False else "after"))
    return end_labels(plot, labels)


def _room_for(curve: Curve) -> tuple[float, float]:
    """Heights that show what was measured and identified whole, and a nominal prediction until it has run away."""
    low, high = span([*curve.measured, *curve.after], 0.06)
    away = 0.6 * (high - low)
    lowest, highest = span([*curve.measured, *curve.after, *curve.before], 0.06)
    return max(lowest, low - away), min(highest, high + away)


def _thinned(plot: Frame, xs: Values, ys: Values, class_: str) -> Markup:
    kept = thin(min(len(xs), len(ys)), 400)
    return line(plot, _pick(xs, kept), _pick(ys, kept), class_)


def _pick(values: Values, places: Sequence[int]) -> list[Value]:
    return [values[i] if i < len(values) else None for i in places]


def _end(values: Values, class_: str) -> tuple[float, str]:
    """The last known value and the class, as a label wants them."""
    return last(values) or 0.0, class_


def _within(plot: Frame, labels: Sequence[Label]) -> list[Label]:
    low, high = plot.y.low, plot.y.high
    return [Label(label.text, min(max(label.at, low), high), label.class_) for label in labels]


def _curve_tips(plot: Frame, curve: Curve) -> Markup:
    places = [i for i in thin(len(curve.time_s), 60) if curve.time_s[i] is not None]
    rows = (("measured", "measured"), *SERIES)
    tips = []
    for i in places:
        said = [f"{w} {number(at(getattr(curve, series), i))}" for series, w in rows]
        tips.append("\n".join([f"{number(curve.time_s[i])} s", *said]))
    return strips(plot, [curve.time_s[i] or 0.0 for i in places], tips)


def _gap_tips(plot: Frame, gap: Gap, channel: str) -> Markup:
    places = [i for i, h in enumerate(gap.horizons_s) if h]
    rows = (*SERIES, ("floor", "noise floor"))
    tips = []
    for i in places:
        said = [f"{w} {number(at(getattr(gap, series).get(channel, ()), i), 2)}" for series, w in rows]
        tips.append("\n".join([f"{number(gap.horizons_s[i], 2)} s ahead", *said]))
    return strips(plot, [gap.horizons_s[i] or 1.0 for i in places], tips)


def _run(plot: Frame, name: str, run: Training, shade: str) -> Markup:
    known = [(s, v) for s, v in zip(run.steps, run.returns, strict=True) if s is not None and v is not None]
    tips = [f"{name}\n{number(s, 4)} steps\nreturn {number(v)}" for s, v in known]
    places = thin(len(known), 80)
    spots = [dot(plot.x(known[i][0]), plot.y(known[i][1]), "spot", 6, tips[i]) for i in places]
    steps, value = max(known, key=lambda point: point[1])
    kept = dot(
        plot.x(steps),
        plot.y(value),
        f"after kept {shade}",
        4.5,
        f"{name}\nkeeps the policy of here\nreturn {number(value)}",
    )
    return join(_thinned(plot, run.steps, run.returns, shade), *spots, kept)
