"""Where least squares begins: at the prior's centre, at the best of many draws from it, and by evolution where all get stuck."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from .evolution import evolve
from .least_squares import Fit, Problem, Progress, fit
from .windows import thin

DRAWS, FEW, SHORT = 24, 20, 6
"""Draws screened, windows on which they are, and iterations of the short fits."""
SAME = 1.05
"""Ratio of costs up to which two short fits count as equally good."""
NEAR = 1e-2
"""Share of the cost that an iteration must gain here: whoever searches only has to come near, the last fit goes to the end."""


@dataclass(frozen=True)
class Found:
    """The best fit, how it was come by, and whether other beginnings led there too."""

    fit: Fit
    method: Literal["least-squares", "cma"]
    agreeing: int
    """Beginnings that ended as well as the best one, and in the same place."""
    begun: int


@dataclass(frozen=True)
class Search:
    """How parameters are sought."""

    method: Literal["auto", "least-squares", "cma"]
    starts: int
    iterations: int
    stalled: float


def search(problem: Problem, recipe: Search, seed: int, progress: Progress | None = None) -> Found:
    """The best of several beginnings, followed on all windows until it is near its end."""
    if recipe.method == "cma":
        begin = evolve(problem, seed, progress)
        return Found(fit(problem, begin, recipe.iterations, progress, NEAR), "cma", 1, 1)
    begins = [problem.bounds.centre, *_drawn(problem, recipe.starts - 1, seed)]
    best, agreeing = _screened(problem, begins, progress)
    found = fit(problem, best, recipe.iterations, progress, NEAR)
    if recipe.method == "auto" and found.cost >= recipe.stalled:
        other = fit(problem, evolve(problem, seed), recipe.iterations, progress, NEAR)
        if other.cost < found.cost / SAME:
            return Found(other, "cma", 1, len(begins) + 1)
    return Found(found, "least-squares", agreeing, len(begins))


def _drawn(problem: Problem, count: int, seed: int) -> list[Float[np.ndarray, " param"]]:
    """The draws from the prior that explain a few windows best, as different as they come."""
    if count < 1:
        return []
    few, bounds, rng = _few(problem).shooting, problem.bounds, np.random.default_rng(seed)
    draws = bounds.centre + bounds.deviation * rng.standard_normal((DRAWS, len(bounds.centre)))
    draws = np.clip(draws, bounds.low, bounds.high)
    z = few.residuals(draws, np.tile(few.windows.start, (DRAWS, 1, 1))) / problem.level
    order = np.argsort(np.log1p(z**2).mean(axis=(1, 2)))
    return list(draws[order[:count]])


def _screened(
    problem: Problem, begins: list[np.ndarray], progress: Progress | None
) -> tuple[Float[np.ndarray, " param"], int]:
    """The end of the best short fit on a few windows, and how many ended there."""
    few = _few(problem)
    ends = [fit(few, begin, SHORT, progress) for begin in begins]
    best = min(ends, key=lambda f: f.cost)
    covariance = np.linalg.inv(best.information) * max(best.cost, 1.0)
    agreeing = 0
    for end in ends:
        off = end.params - best.params
        near = off @ np.linalg.solve(covariance, off) < 9 * len(off)
        agreeing += bool(near and end.cost < SAME * best.cost)
    return best.params, agreeing


def _few(problem: Problem) -> Problem:
    return problem.on(thin(problem.shooting.windows, FEW))
