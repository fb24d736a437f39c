"""How wrong a simulator is: held-out prediction error per channel and horizon, beside the floor that sensor noise sets."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from gapless.core import Belief, GaplessError, Log, Simulator, nominal_belief

from .least_squares import fit_starts, leftover
from .noise import sensor_noise
from .shooting import Shooting, Slopes, centre_of
from .windows import Windows, cut, per_query

PREFIX_S = 0.2
"""Time before each prediction from which the start is fitted; a crude start would prefer the wrong parameters."""
MEDIAN_OF_NORMAL = 0.6745


@dataclass(frozen=True)
class Gap:
    """Median |error| per channel and horizon, in units of the channel's deviation."""

    horizons_s: tuple[float, ...]
    error: dict[str, list[float]]
    floor: dict[str, list[float]]
    curves: dict[str, dict[str, Any]] = field(default_factory=dict)
    """One window of each channel: time, measured, predicted."""
    spread: dict[str, float] = field(default_factory=dict)
    """Each channel's deviation, in its unit."""

    def excess(self, horizon_s: float) -> float:
        """Error above the floor, in quadrature; a tenth of the floor counts as none."""
        found = []
        for name in self.error:
            k = self.horizons_s.index(horizon_s)
            e, f = self.error[name][k], self.floor[name][k]
            found.append(max(np.sqrt(max(e**2 - f**2, 0.0)), 0.1 * f))
        return float(np.median(found))


def horizons(period_s: float) -> tuple[float, ...]:
    """One step, and a tenth, a half and two seconds."""
    return (period_s, 0.1, 0.5, 2.0)


def gap(
    simulator: Simulator, belief: Belief, logs: list[Log], floor_from: Belief | None = None, every_s: float = 0.25
) -> Gap:
    """The gap of the belief's mean on logs that it has not seen. The floor is computed at `floor_from`, the best model known."""
    wanted = horizons(simulator.interface.period_s)
    windows = _windows(simulator, logs, wanted, every_s)
    level = per_query(windows, sensor_noise(logs))
    lasts = float(windows.times.max())
    slopes = predict(simulator, belief, windows, level)
    best = slopes if floor_from is None else predict(simulator, floor_from, windows, level)
    reached = tuple(h for h in wanted if PREFIX_S + h <= lasts + 1e-9)
    error = {c: [] for c, _ in windows.columns}
    floor = {c: [] for c, _ in windows.columns}
    spread = spreads(logs)
    expected = doubt(best, sharpened(best, windows, level), prefix_of(windows))
    for h in reached:
        for k, (name, _) in enumerate(windows.columns):
            at = nearest(windows, k, PREFIX_S + h)
            rows = np.arange(len(windows))
            seen = windows.present[rows, at]
            error[name].append(float(np.median(np.abs(slopes.residual[rows, at][seen]))) / spread[name])
            floor[name].append(MEDIAN_OF_NORMAL * float(np.median(expected[rows, at][seen])) / spread[name])
    return Gap(reached, error, floor, _curves(windows, slopes.residual), spread)


def _windows(simulator: Simulator, logs: list[Log], wanted: tuple[float, ...], every_s: float) -> Windows:
    for longest in sorted(wanted, reverse=True):
        windows = cut(simulator, logs, PREFIX_S + longest + simulator.interface.period_s, every_s)
        if windows is not None:
            return windows
    raise GaplessError("the held-out logs are too short to predict anything. Collect more, or longer, episodes.")


def predict(simulator: Simulator, belief: Belief, windows: Windows, level: np.ndarray) -> Slopes:
    """Residuals of the belief's mean, each window from the start that fits its prefix best."""
    names, centre = centre_of(belief)
    shooting = Shooting(simulator, windows, names, nominal_belief(simulator.parameters).mean())
    return fit_starts(shooting, centre, level, prefix_of(windows))[1]


def prefix_of(windows: Windows) -> Float[np.ndarray, " query"]:
    """One for the samples that the start is fitted to, zero for those that are predicted."""
    return (windows.times <= PREFIX_S + 1e-9).all(axis=0).astype(float)


def doubt(slopes: Slopes, level: np.ndarray, prefix: np.ndarray) -> Float[np.ndarray, "window query"]:
    """Deviation of the error that a perfect model would make: the sensor's noise, and that of the start it began from."""
    j = slopes.by_start * (prefix / level)[:, None]
    information = np.einsum("wqs,wqt->wst", j, j)
    ridge = 1e-9 * np.eye(j.shape[-1]) * np.einsum("wss->w", information)[:, None, None]
    covariance = np.linalg.inv(information + ridge)
    return np.sqrt(level**2 + np.einsum("wqs,wst,wqt->wq", slopes.by_start, covariance, slopes.by_start))


def sharpened(best: Slopes, windows: Windows, level: np.ndarray) -> Float[np.ndarray, " query"]:
    """The noise of each sample, lowered where the best model leaves less on the prefix that it was fitted to."""
    prefix = prefix_of(windows) > 0
    left = leftover(best.residual[:, prefix], windows.channel[prefix])
    freedom = 1 - windows.start.shape[1] / max(int(prefix.sum()), windows.start.shape[1] + 1)
    return np.minimum(level, np.maximum(left / np.sqrt(freedom), 1e-12)[windows.channel])


def spreads(logs: list[Log]) -> dict[str, float]:
    """The deviation of each channel over all logs, never zero."""
    names = logs[0].interface.measurement_names
    return {n: max(float(np.nanstd(np.concatenate([log.measurements[n] for log in logs]))), 1e-9) for n in names}


def nearest(windows: Windows, column: int, time_s: float) -> np.ndarray:
    """The sample of a column that each window took nearest to a time."""
    mine = np.flatnonzero(windows.channel == column)
    return mine[np.abs(windows.times[:, mine] - time_s).argmin(axis=1)]


def _curves(windows: Windows, residual: np.ndarray) -> dict[str, dict[str, Any]]:
    """The window with the liveliest motion, as curves."""
    columns = [windows.channel == k for k in range(len(windows.columns))]
    moved = np.array([[m[here].std() for here in columns] for m in windows.measured])
    w = int((moved / (moved.max(axis=0) + 1e-12)).sum(axis=1).argmax())
    found = {}
    for k, (name, part) in enumerate(windows.columns):
        if part == 0:
            here = (windows.channel == k) & windows.present[w]
            measured = windows.measured[w, here]
            found[name] = {
                "time_s": (windows.times[w, here] - PREFIX_S).tolist(),
                "measured": measured.tolist(),
                "predicted": (measured + residual[w, here]).tolist(),
            }
    return found
