"""Statistics of shares: interquartile means with bootstrap intervals, drawn robot by robot, and paired differences."""

from collections.abc import Callable, Sequence

import numpy as np

DRAWS = 2000


def middle(values: np.ndarray) -> float:
    """Interquartile mean."""
    cut = len(values) // 4
    return float(np.sort(values)[cut : len(values) - cut].mean())


def bootstrap(
    values: np.ndarray, strata: Sequence[str], of: Callable[[np.ndarray], float] = middle
) -> tuple[float, float]:
    """95 % interval of a statistic; every stratum keeps its size in every draw."""
    rng, names = np.random.default_rng(0), np.asarray(strata)
    groups = [np.flatnonzero(names == name) for name in dict.fromkeys(strata)]
    drawn = [of(values[np.concatenate([rng.choice(g, len(g)) for g in groups])]) for _ in range(DRAWS)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def paired(ours: np.ndarray, theirs: np.ndarray, strata: Sequence[str]) -> tuple[float, float, float]:
    """Median of the paired differences and its 95 % interval: one beats the other when that excludes zero."""
    return float(np.median(ours - theirs)), *bootstrap(ours - theirs, strata, lambda d: float(np.median(d)))
