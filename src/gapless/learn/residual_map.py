"""What a belief leaves unexplained, as maps: the error of short predictions over the two signals that it follows most."""

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from gapless.core import Belief, Log, Simulator

from .gap import PREFIX_S, doubt, nearest, predict, prefix_of, sharpened
from .noise import sensor_noise
from .windows import Windows, cut, per_query, thin

AHEAD_S = 0.1
"""How far ahead is predicted: long enough for a force to show, short enough to say where it acted."""
EVERY_S = 0.02
WORLDS = 2400
"""Windows, each with a nudge for every state of its start, that are simulated at once at most."""
MOST_MAPS = 8
FINEST, COARSEST, PER_CELL = 24, 6, 1.5
"""Cells on a side of a map at most and at least, and samples that there should be for each."""
JUDGED, FOLDS, BLOCK_S = 6, 5, 1.0
"""Cells on a side, folds and length of their stretches, when it is judged how far an error follows two signals."""
BLEW_UP = 999.0
"""Errors from here on are simulations that came to no end, and no measure of anything."""
EDGE = 0.01
"""Share of the samples at either end of an axis that it leaves out: one stray must not shrink the map."""


@dataclass(frozen=True)
class ResidualMap:
    """Measured − predicted of one channel, averaged over cells of two signals; None where the motion never was."""

    channel: str
    unit: str
    ahead_s: float
    x: dict[str, str | float]
    """Name, unit, low and high of the signal across."""
    y: dict[str, str | float]
    mean: list[list[float | None]]
    """A row for each cell of y, the lowest first."""
    count: list[list[int]]
    size: float
    """Root mean square of all errors."""
    noise: float
    """What it would be if the model were perfect."""
    follows: float
    """Share of the squared error that the two signals foretell in stretches not looked at: a learned part's to take."""


class _Signal(NamedTuple):
    name: str
    unit: str
    values: Float[np.ndarray, " window"]


class _Cells(NamedTuple):
    """Where in a grid each sample lies."""

    place: Int[np.ndarray, " window"]
    inside: Bool[np.ndarray, " window"]
    side: int


def residual_maps(simulator: Simulator, belief: Belief, logs: list[Log]) -> list[ResidualMap]:
    """A map for each channel, those farthest above their noise first; none where the logs are too short."""
    windows = cut(simulator, logs, PREFIX_S + AHEAD_S + simulator.interface.period_s, EVERY_S)
    if windows is None:
        return []
    windows = thin(windows, WORLDS // (1 + windows.start.shape[1]))
    level = per_query(windows, sensor_noise(logs))
    slopes = predict(simulator, belief, windows, level)
    expected = doubt(slopes, sharpened(slopes, windows, level), prefix_of(windows))
    commands = _commands(windows)
    found = []
    for k in range(len(windows.columns)):
        rows, at = np.arange(len(windows)), nearest(windows, k, PREFIX_S + AHEAD_S)
        seen = windows.present[rows, at] & windows.present[rows, nearest(windows, k, PREFIX_S)]
        seen &= np.abs(slopes.residual[rows, at]) < BLEW_UP
        if seen.any():
            error = np.where(seen, -slopes.residual[rows, at], np.nan)
            noise = float(np.median(expected[rows, at][seen]))
            found.append(
                _map(windows, error, noise, [*_motion(windows, k), *_partners(simulator, windows, k), *commands])
            )
    return sorted(found, key=lambda m: -m.size / m.noise)[:MOST_MAPS]


def _map(windows: Windows, error: np.ndarray, noise: float, signals: list[_Signal]) -> ResidualMap:
    seen = np.isfinite(error)
    fold = (np.floor(windows.begin_s / BLOCK_S).astype(int) + 3 * windows.which) % FOLDS
    pairs = list(combinations(signals, 2))
    follows = [_foretold(_cells(pair, JUDGED, seen), error, fold) for pair in pairs]
    best = int(np.argmax(follows))
    side = int(np.clip(np.sqrt(seen.sum() / PER_CELL), COARSEST, FINEST))
    cells = _cells(pairs[best], side, seen)
    count = np.bincount(cells.place[cells.inside], minlength=side**2)
    total = np.bincount(cells.place[cells.inside], error[cells.inside], side**2)
    mean = [float(f"{t / n:.3g}") if n else None for t, n in zip(total, count, strict=True)]
    x, y = (
        {"name": s.name, "unit": s.unit, "low": low, "high": high}
        for s in pairs[best]
        for low, high in [_ends(s, seen)]
    )
    return ResidualMap(
        signals[0].name, signals[0].unit, AHEAD_S, x, y,
        [mean[i * side : (i + 1) * side] for i in range(side)], count.reshape(side, side).tolist(),
        float(np.sqrt(np.mean(error[seen] ** 2))), noise, max(0.0, follows[best]),
    )  # fmt: skip


def _foretold(cells: _Cells, error: np.ndarray, fold: np.ndarray) -> float:
    """Share of the squared error that cells' means foretell in the folds that they are not from, shrunk by one sample."""
    off, place, count = error[cells.inside], cells.place[cells.inside], cells.side**2
    left = 0.0
    for k in range(FOLDS):
        held = fold[cells.inside] == k
        total = np.bincount(place[~held], off[~held], count) / (1 + np.bincount(place[~held], minlength=count))
        left += float(((off[held] - total[place[held]]) ** 2).sum())
    whole = float((off**2).sum())
    return 1 - left / whole if whole else 0.0


def _cells(pair: tuple[_Signal, _Signal], side: int, seen: Bool[np.ndarray, " window"]) -> _Cells:
    inside, steps = seen.copy(), []
    for signal in pair:
        low, high = _ends(signal, seen)
        step = np.floor((signal.values - low) / (high - low) * side)
        step = np.where(signal.values == high, side - 1, step)
        inside &= (step >= 0) & (step < side)
        steps.append(np.nan_to_num(step).clip(0, side - 1).astype(int))
    return _Cells(steps[1] * side + steps[0], inside, side)


def _ends(signal: _Signal, seen: Bool[np.ndarray, " window"]) -> tuple[float, float]:
    low, high = np.quantile(signal.values[seen], [EDGE, 1 - EDGE])
    return (float(low), float(high)) if high > low else (float(low) - 0.5, float(high) + 0.5)


def _motion(windows: Windows, column: int) -> list[_Signal]:
    """The column itself, in the middle of what is predicted, and how fast it changes there."""
    rows = np.arange(len(windows))
    first, last = (nearest(windows, column, PREFIX_S + s) for s in (0.0, AHEAD_S))
    change = windows.measured[rows, last] - windows.measured[rows, first]
    name, unit = _named(windows, column)
    if unit == "rad":
        change = np.angle(np.exp(1j * change))
    value = windows.measured[rows, first] + change / 2
    value = np.angle(np.exp(1j * value)) if unit == "rad" else value
    rate = change / np.maximum(windows.times[rows, last] - windows.times[rows, first], 1e-9)
    return [_Signal(name, unit, value), _Signal(f"rate of {name}", f"{unit}/s" if unit else "1/s", rate)]


def _partners(simulator: Simulator, windows: Windows, column: int) -> list[_Signal]:
    """Other channels that read the same joint: a velocity's position, and the other way round."""
    joint = simulator.sensed.get(windows.columns[column][0], (None, ""))[0]
    others = [k for k, (name, _) in enumerate(windows.columns) if simulator.sensed.get(name, (0, ""))[0] == joint]
    return [_motion(windows, k)[0] for k in others if k != column and joint is not None]


def _commands(windows: Windows) -> list[_Signal]:
    """The commands, each averaged over what is predicted."""
    found, interface = [], windows.logs[0].interface
    for channel in interface.commands:
        for part in range(channel.width):
            name = channel.name if channel.width == 1 else f"{channel.name}.{part}"
            pairs = zip(windows.which, windows.begin_s, strict=True)
            sent = [_sent(windows.logs[i], channel.name, part, begin + PREFIX_S) for i, begin in pairs]
            found.append(_Signal(name, channel.unit, np.array(sent)))
    return found


def _sent(log: Log, name: str, part: int, begin_s: float) -> float:
    first, last = np.searchsorted(log.command_time, [begin_s, begin_s + AHEAD_S]).clip(1, len(log)) - 1
    return float(np.nan_to_num(log.commands[name][first : last + 1, part]).mean())


def _named(windows: Windows, column: int) -> tuple[str, str]:
    name, part = windows.columns[column]
    channel = windows.logs[0].interface.channel(name)
    return name if channel.width == 1 else f"{name}.{part}", channel.unit
