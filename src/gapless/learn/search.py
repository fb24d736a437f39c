"""Where least squares begins: at the prior's centre, at the best of many draws from it, and by evolution where all get stuck."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from .evolution import evolve
from .least_squares import Bounds, Fit, fit
from .shooting import Shooting
from .windows import thin

DRAWS, FEW, SHORT = 24, 20, 6
"""Draws screened, windows on which they are, and iterations of the short fits."""
SAME = 1.05
"""Ratio of costs up to which two short fits count as equally good."""
Progress = Callable[[int, float], None]


@dataclass(frozen=True)
class Found:
    """The best fit, how it was come by, and whether other beginnings led there too."""

    fit: Fit
    method: Literal["least-squares", "cma"]
    agreeing: int
    """Beginnings that ended as well as the best one, and in the same place."""
    begun: int


def search(
    shooting: Shooting, bounds: Bounds, level: Float[np.ndarray, " query"], method: str, starts: int,
    iterations: int, stalled: float, seed: int, progress: Progress | None = None,
) -> Found:  # fmt: skip
    """The best of several beginnings, followed to the end on all windows."""
    if method == "cma":
        begin = evolve(shooting, bounds, level, seed, progress)
        return Found(fit(shooting, bounds, level, begin, iterations, progress), "cma", 1, 1)
    begins = [bounds.centre, *_drawn(shooting, bounds, level, starts - 1, seed)]
    best, agreeing = _screened(shooting, bounds, level, begins)
    found = fit(shooting, bounds, level, best, iterations, progress)
    if method == "auto" and found.cost >= stalled:
        other = fit(shooting, bounds, level, evolve(shooting, bounds, level, seed), iterations, progress)
        if other.cost < found.cost / SAME:
            return Found(other, "cma", 1, len(begins) + 1)
    return Found(found, "least-squares", agreeing, len(begins))


def _drawn(
    shooting: Shooting, bounds: Bounds, level: np.ndarray, count: int, seed: int
) -> list[Float[np.ndarray, " param"]]:
    """The draws from the prior that explain a few windows best, as different as they come."""
    if count < 1:
        return []
    few, rng = _few(shooting), np.random.default_rng(seed)
    draws = bounds.centre + bounds.deviation * rng.standard_normal((DRAWS, len(bounds.centre)))
    draws = np.clip(draws, bounds.low, bounds.high)
    z = few.residuals(draws, np.tile(few.windows.start, (DRAWS, 1, 1))) / level
    order = np.argsort(np.log1p(z**2).mean(axis=(1, 2)))
    return list(draws[order[:count]])


def _screened(
    shooting: Shooting, bounds: Bounds, level: np.ndarray, begins: list[np.ndarray]
) -> tuple[Float[np.ndarray, " param"], int]:
    """The end of the best short fit, and how many ended there."""
    if len(begins) == 1:
        return begins[0], 1
    few = _few(shooting)
    ends = [fit(few, bounds, level, begin, SHORT) for begin in begins]
    best = min(ends, key=lambda f: f.cost)
    covariance = np.linalg.inv(best.information) * max(best.cost, 1.0)
    agreeing = 0
    for end in ends:
        off = end.params - best.params
        near = off @ np.linalg.solve(covariance, off) < 9 * len(off)
        agreeing += bool(near and end.cost < SAME * best.cost)
    return best.params, agreeing


def _few(shooting: Shooting) -> Shooting:
    return Shooting(shooting.simulator, thin(shooting.windows, FEW), shooting.names, shooting.fixed)
