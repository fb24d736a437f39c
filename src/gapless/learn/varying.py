"""Parameters that vary within logs: with time since an episode began, with load, or along a joint's travel.

In each period of a window a parameter is its constant value and, for each pattern, an amplitude times the pattern there.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.core import Log, Parameter, Simulator

from .load import load_so_far
from .shooting import Shapes
from .windows import Windows

TIME, LOAD = "time", "load"
"""What a pattern runs over where it is no joint."""
IN_TIME, BY_LOAD, ALONG = ("actuation", "friction", "contact"), ("actuation",), ("friction",)
"""Families that change as things warm up or wear in, those that tire, and those that differ from place to place."""
LAGS = (1 / 6, 1 / 3, 2 / 3)
"""After which share of an episode what loads a motor is felt."""
WAVES = (2, 4, 6)
"""Patterns along a joint: so many half-waves over its travel, few or many."""
Places = dict[str, Float[np.ndarray, "window period"]]
"""Where each joint is in the periods of each window."""


@dataclass(frozen=True)
class Pattern:
    """One way in which a parameter differs between windows."""

    param: str
    over: str
    """A joint, time or load."""
    order: int = 1
    """Half-waves over the joint's travel."""
    begin: float = 0.0
    span: float = 1.0
    """Of the joint's travel, of an episode's seconds, or of the load."""
    lag_s: float = 0.0
    """After which load is felt."""
    least: float = -np.inf
    """What the parameter cannot fall below."""

    @property
    def name(self) -> str:
        return f"{self.param} over {self.over}, {self.order}"

    def shape(self, windows: Windows, places: Places) -> Float[np.ndarray, "window period"]:
        """The pattern in each period: the part of an episode or of the load that is over, or a wave along the travel."""
        if self.over in places:
            return self.wave(np.clip((places[self.over] - self.begin) / self.span, 0.0, 1.0))
        at_s = windows.begin_s[:, None] + _middles(windows)
        runs = [self._runs(log) for log in windows.logs]
        return np.array([np.interp(at, *runs[k]) for k, at in zip(windows.which, at_s, strict=True)]) / self.span

    def _runs(self, log: Log) -> tuple[np.ndarray, np.ndarray]:
        """Over a log's clock: the time since it began, or the load so far."""
        if self.over == LOAD:
            return log.command_time, load_so_far(log, self.param.split(".")[0], self.lag_s)
        ends = np.array([log.command_time[0], log.command_time[-1]])
        return ends, ends - ends[0]

    def wave(self, share: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
        """The pattern where a share of the time is over, or of the travel behind."""
        return share if self.over in (TIME, LOAD) else np.cos(np.pi * self.order * share)


def places_of(simulator: Simulator, windows: Windows, off: Float[np.ndarray, "window query"] | None = None) -> Places:
    """Where the joints were measured to be, or, `off` from that, predicted to be; only those that every window reads."""
    positions = {name: joint for name, (joint, side) in simulator.sensed.items() if side == "position"}
    values, middles, found = windows.measured + (0.0 if off is None else off), _middles(windows), {}
    for k, (name, _) in enumerate(windows.columns):
        seen = windows.present & (windows.channel == k)
        if name in positions and seen.any(axis=1).all():
            rows = zip(windows.times, values, seen, strict=True)
            found[positions[name]] = np.array([np.interp(middles, t[s], v[s]) for t, v, s in rows])
    return found


def _middles(windows: Windows) -> Float[np.ndarray, " period"]:
    """Times in a window at which its periods are half over."""
    period_s = windows.logs[0].interface.period_s
    return (np.arange(int(np.ceil(windows.seconds / period_s - 1e-9))) + 0.5) * period_s


def ways_to_vary(doubted: tuple[Parameter, ...], windows: Windows, places: Places) -> list[tuple[Pattern, ...]]:
    """For each parameter that may: how it would vary with time, with load, and along its joint."""
    lasts = max(float(log.command_time[-1] - log.command_time[0]) for log in windows.logs)
    found = [(Pattern(p.name, TIME, span=lasts, least=p.low),) for p in doubted if p.family in IN_TIME]
    for p in doubted:
        part = p.name.split(".")[0]
        if p.family in BY_LOAD:
            found += [(_loaded(p, k + 1, lag * lasts, windows.logs),) for k, lag in enumerate(LAGS)]
        if p.family in ALONG and part in places:
            low, high = float(places[part].min()), float(places[part].max())
            if high > low:
                waves = tuple(Pattern(p.name, part, k + 1, low, high - low, least=p.low) for k in range(max(WAVES)))
                found += [waves[:most] for most in WAVES]
    return found


def _loaded(param: Parameter, order: int, lag_s: float, logs: list[Log]) -> Pattern:
    """The largest load of these logs counts as one."""
    most = max(float(load_so_far(log, param.name.split(".")[0], lag_s).max()) for log in logs)
    return Pattern(param.name, LOAD, order, span=most or 1.0, lag_s=lag_s, least=param.low)


def shapes_of(patterns: tuple[Pattern, ...], windows: Windows, places: Places) -> Shapes:
    """Each pattern's parameter and its part in each window."""
    return {p.name: (p.param, p.shape(windows, places)) for p in patterns}


def in_words(patterns: tuple[Pattern, ...], values: Mapping[str, float]) -> tuple[str, ...]:
    """By how much each parameter rises or falls in an episode or under load, or differs along its joint's travel."""
    said = []
    for param, over in dict.fromkeys((p.param, p.over) for p in patterns):
        mine = [p for p in patterns if (p.param, p.over) == (param, over)]
        along = np.linspace(0.0, 1.0, 101)
        value = values[param] + np.sum([values[p.name] * p.wave(along) for p in mine], axis=0)
        value = np.maximum(value, mine[0].least)
        if over not in (TIME, LOAD):
            said.append(f"{param} varies along {over} by {np.ptp(value):.2g}")
            continue
        change = float(value[-1] - value[0])
        by = f"{abs(change / value[0]):.0%}".replace("%", " %") if value[0] else f"{abs(change):.2g}"
        when = f"in {mine[0].span:.3g} s" if over == TIME else "under load"
        said.append(f"{param} {'rises' if change > 0 else 'falls'} by {by} {when}")
    return tuple(said)
