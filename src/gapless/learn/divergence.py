"""How long a window may be: until simulated and measured trajectories part, or until a start's own error has grown too far."""

import numpy as np

from gapless.core import Log, Params, Simulator

from .least_squares import fit_starts
from .noise import sensor_noise
from .shooting import Shooting
from .windows import Windows, cut, per_query, thin

LENGTHS_S = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1)
"""Lengths tried, the longest first."""
WINDOWS = 24
SAMPLES = 8
"""Samples of a channel that a window must hold at least."""
PREFIX = 0.35
"""Share of the window from which its start is fitted."""
APART = 0.3
"""Error, as a share of what moves in the window, from which on two trajectories have parted."""
GROWN = 20.0
"""Growth of a start's error, in units of the noise, from which on a window tells more about it than about parameters."""


def window_length(simulator: Simulator, logs: list[Log], params: Params, most_s: float) -> float | None:
    """The longest length up to `most_s` at which windows still run beside the logs; None where no log is long enough."""
    lengths = [s for s in LENGTHS_S if s <= most_s]
    for seconds in lengths:
        windows = cut(simulator, logs, seconds)
        if windows is not None:
            break
    else:
        return None
    windows = thin(windows, WINDOWS)
    together = _together(simulator, windows, params, sensor_noise(logs))
    period_s = float(np.median(np.diff(next(iter(logs[0].measurement_time.values())))))
    usable = [s for s in lengths if SAMPLES * period_s <= s <= seconds] or [seconds]
    return next((s for s in usable if s <= together + 1e-9), usable[-1])


def _together(simulator: Simulator, windows: Windows, params: Params, noise: dict[str, float]) -> float:
    """Seconds for which the median window stays together with its log, and its start's error bounded."""
    shooting = Shooting(simulator, windows, (), params)
    level = per_query(windows, noise)
    lasts = float(windows.times.max())
    prefix = (windows.times <= PREFIX * lasts).all(axis=0).astype(float)
    _, slopes = fit_starts(shooting, np.empty(0), level, prefix)
    moved = _moved(windows)
    apart = np.abs(slopes.residual) > np.maximum(APART * moved[:, windows.channel], 5 * level)
    j = slopes.by_start * (prefix / level)[:, None]
    information = np.einsum("wqs,wqt->wst", j, j)
    information += 1e-9 * np.eye(j.shape[-1]) * np.einsum("wss->w", information)[:, None, None]
    spread = np.einsum("wqs,wst,wqt->wq", slopes.by_start, np.linalg.inv(information), slopes.by_start)
    lost = (apart | (np.sqrt(np.maximum(spread, 0.0)) > GROWN * level)) & windows.present
    first = np.where(lost, windows.times, np.inf).min(axis=1)
    return float(np.median(np.minimum(first, lasts * 1.01)))


def _moved(windows: Windows) -> np.ndarray:
    """How far each channel moves within each window: the quantity that a prediction must get right."""
    columns = range(len(windows.columns))
    spans = []
    for k in columns:
        here = np.where(windows.present & (windows.channel == k), windows.measured, np.nan)
        with np.errstate(all="ignore"):
            spans.append(np.nanmax(here, axis=1) - np.nanmin(here, axis=1))
    moved = np.nan_to_num(np.stack(spans, axis=1))
    return np.maximum(moved, 0.3 * np.median(moved, axis=0))
