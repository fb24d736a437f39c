"""Parameters that vary within logs: with time since an episode began, with load, or along a joint's travel.

In each period of a window a parameter is its constant value and, for each pattern, an amplitude times the pattern there.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from gapless.core import Log, Parameter, Simulator

from .patterns import Along, InTime, Pattern, Places, UnderLoad, middles
from .shooting import Shapes
from .windows import Windows

IN_TIME, BY_LOAD, ALONG = ("actuation", "friction", "contact"), ("actuation",), ("friction",)
"""Families that change as things warm up or wear in, those that tire, and those that differ from place to place."""
LAGS = (1 / 6, 1 / 3, 2 / 3)
"""After which share of an episode what loads a motor is felt."""
WAVES = (2, 4, 6)
"""Patterns along a joint: so many half-waves over its travel, few or many."""


def places_of(simulator: Simulator, windows: Windows, off: Float[np.ndarray, "window query"] | None = None) -> Places:
    """Where the joints were measured to be, or, `off` from that, predicted to be; only those that every window reads."""
    positions = {name: joint for name, (joint, side) in simulator.sensed.items() if side == "position"}
    values, at_s, found = windows.measured + (0.0 if off is None else off), middles(windows), {}
    for k, (name, _) in enumerate(windows.columns):
        seen = windows.present & (windows.channel == k)
        if name in positions and seen.any(axis=1).all():
            rows = zip(windows.times, values, seen, strict=True)
            found[positions[name]] = np.array([np.interp(at_s, t[s], v[s]) for t, v, s in rows])
    return found


def ways_to_vary(doubted: tuple[Parameter, ...], windows: Windows, places: Places) -> list[tuple[Pattern, ...]]:
    """For each parameter that may: how it would vary with time, with load, and along its joint."""
    lasts = max(float(log.command_time[-1] - log.command_time[0]) for log in windows.logs)
    found: list[tuple[Pattern, ...]] = [(InTime(p.name, p.low, lasts),) for p in doubted if p.family in IN_TIME]
    for p in doubted:
        part = p.name.split(".")[0]
        if p.family in BY_LOAD:
            found += [(_loaded(p, lag * lasts, windows.logs),) for lag in LAGS]
        if p.family in ALONG and part in places:
            low, high = float(places[part].min()), float(places[part].max())
            if high > low:
                waves = tuple(Along(p.name, p.low, high - low, part, low, k + 1) for k in range(max(WAVES)))
                found += [waves[:most] for most in WAVES]
    return found


def _loaded(param: Parameter, lag_s: float, logs: list[Log]) -> UnderLoad:
    """The largest load of these logs counts as one."""
    unscaled = UnderLoad(param.name, param.low, 1.0, lag_s)
    return replace(unscaled, span=max(float(unscaled.load(log).max()) for log in logs) or 1.0)


def shapes_of(patterns: tuple[Pattern, ...], windows: Windows, places: Places) -> Shapes:
    """Each pattern's parameter and its part in each window."""
    return {p.name: (p.param, p.shape(windows, places)) for p in patterns}


def in_words(patterns: tuple[Pattern, ...], values: Mapping[str, float]) -> tuple[str, ...]:
    """By how much each parameter rises or falls in an episode or under load, or differs along its joint's travel."""
    groups = dict.fromkeys((p.param, p.group) for p in patterns)
    return tuple(_said([p for p in patterns if (p.param, p.group) == group], values) for group in groups)


def _said(together: list[Pattern], values: Mapping[str, float]) -> str:
    """What patterns of one parameter over the same do in sum."""
    first, along = together[0], np.linspace(0.0, 1.0, 101)
    value = values[first.param] + np.sum([values[p.name] * p.wave(along) for p in together], axis=0)
    return first.said(np.maximum(value, first.least))
