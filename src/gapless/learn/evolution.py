"""CMA-ES over the parameters, for landscapes on which least squares gets stuck."""

import warnings
from typing import Any

import numpy as np
from jaxtyping import Float

from .least_squares import Problem, Progress
from .windows import thin

POPULATION, WINDOWS, GENERATIONS = 16, 24, 40


def evolution(box: list[list[float]], population: int, generations: int, seed: int) -> Any:
    """A search by the package `cma` inside a box (low, high), around zero and in units of what is plausible."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cma looks for optional plotting packages and says so
        import cma
    options = {"seed": seed % 2**31 + 1, "popsize": population, "bounds": box, "verbose": -9, "maxiter": generations}
    return cma.CMAEvolutionStrategy(np.zeros(len(box[0])), 0.5, options)


def evolve(problem: Problem, seed: int, progress: Progress | None = None) -> Float[np.ndarray, " param"]:
    """Parameters to begin least squares from; each generation is one call of the batch."""
    few, bounds = problem.on(thin(problem.shooting.windows, WINDOWS)).shooting, problem.bounds
    box = [((side - bounds.centre) / bounds.deviation).tolist() for side in (bounds.low, bounds.high)]
    search = evolution(box, POPULATION, GENERATIONS, seed)
    generation, best = 0, bounds.centre
    while not search.stop():
        asked = search.ask()
        params = bounds.centre + np.array(asked) * bounds.deviation
        starts = np.tile(few.windows.start, (len(params), 1, 1))
        z = few.residuals(params, starts) / problem.level
        costs = np.log1p(z**2).mean(axis=(1, 2)) + 1e-3 * (np.array(asked) ** 2).mean(axis=1)
        search.tell(asked, costs.tolist())
        generation += 1
        best = np.clip(bounds.centre + np.asarray(search.result.xbest) * bounds.deviation, bounds.low, bounds.high)
        if progress is not None:
            progress(generation, float(costs.min()), best)
    return best
