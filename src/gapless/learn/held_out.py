"""Whether one simulator predicts held-out logs better than another: window by window, and beyond the noise."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from gapless.core import Belief, Log, Simulator, generator_for, nominal_belief

from .gap import PREFIX_S
from .least_squares import fit_starts
from .noise import sensor_noise
from .shooting import Shooting, centre_of
from .windows import Windows, cut, per_query

HORIZONS_S, EVERY_S = (0.25, 0.5), 0.25
"""Where predictions are compared, each in its later half: far ahead small forces show, nearby motions that run away tell, too."""
DRAWS = 1000
IN_A_ROW = 3 * len(HORIZONS_S)
"""Errors of windows that overlap, and are drawn together."""


@dataclass(frozen=True)
class Comparison:
    """How two simulators predict the same held-out windows, a quarter and half a second ahead."""

    before: float
    """Median error, in deviations of the channels."""
    after: float
    ratio_high: float
    """The mean ratio of errors, after over before, at the upper end of its 80 % interval: below one, it is better."""

    @property
    def better(self) -> bool:
        return self.ratio_high < 1.0 and self.after < self.before


def prediction_errors(simulator: Simulator, belief: Belief, logs: list[Log]) -> Float[np.ndarray, " error"]:
    """Errors of each held-out window, one for each horizon after the prefix that its start is fitted to; none where logs are
    short."""
    windows = cut(simulator, logs, PREFIX_S + HORIZONS_S[-1] + simulator.interface.period_s, EVERY_S)
    if windows is None:
        return np.empty(0)
    level = per_query(windows, sensor_noise(logs))
    prefix = (windows.times <= PREFIX_S + 1e-9).all(axis=0)
    names, centre = centre_of(belief)
    shooting = Shooting(simulator, windows, names, nominal_belief(simulator.parameters).mean())
    residual = fit_starts(shooting, centre, level, prefix.astype(float))[1].residual
    spread = [float(np.nanstd(np.concatenate([log.measurements[n][:, k] for log in logs]))) for n, k in windows.columns]
    square = (residual / np.maximum(spread, 1e-9)[windows.channel]) ** 2
    late = [_late(windows, horizon) for horizon in HORIZONS_S]
    return np.stack([_typical(square, windows, there) for there in late if there.any()], axis=1).ravel()


def _late(windows: Windows, horizon_s: float) -> Bool[np.ndarray, " query"]:
    """Which samples are in the later half of a horizon; of slow sensors there may be none."""
    ahead_s = windows.times - PREFIX_S
    return np.any((ahead_s > horizon_s / 2) & (ahead_s <= horizon_s + 1e-9), axis=0)


def _typical(square: np.ndarray, windows: Windows, there: Bool[np.ndarray, " query"]) -> Float[np.ndarray, " window"]:
    """The error of each window there, all channels alike."""
    columns = [there & (windows.channel == k) for k in range(len(windows.columns))]
    return np.sqrt(np.mean([square[:, c].mean(axis=1) for c in columns if c.any()], axis=0))


def compare(before: Float[np.ndarray, " window"], after: Float[np.ndarray, " window"], seed: int = 0) -> Comparison:
    """The two sets of errors, paired; the interval is drawn over runs of neighbouring windows."""
    if not len(before):
        return Comparison(np.nan, np.nan, np.inf)
    rng, ratio = generator_for(seed, "compare"), np.log(np.maximum(after, 1e-12) / np.maximum(before, 1e-12))
    runs = np.array_split(ratio, max(1, len(ratio) // IN_A_ROW))
    sums, sizes = np.array([r.sum() for r in runs]), np.array([len(r) for r in runs])
    drawn = rng.integers(0, len(runs), (DRAWS, len(runs)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return Comparison(float(np.median(before)), float(np.median(after)), float(np.exp(np.quantile(means, 0.9))))
