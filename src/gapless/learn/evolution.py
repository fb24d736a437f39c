"""CMA-ES over the parameters, for landscapes on which least squares gets stuck."""

import warnings
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from .least_squares import Bounds
from .shooting import Shooting

POPULATION, WINDOWS, GENERATIONS = 16, 24, 40


def evolve(
    shooting: Shooting,
    bounds: Bounds,
    noise: Float[np.ndarray, " query"],
    seed: int,
    progress: Callable[[int, float], None] | None = None,
) -> Float[np.ndarray, " param"]:
    """Parameters to begin least squares from; each generation is one call of the batch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cma looks for optional plotting packages and says so
        import cma
    chosen = np.unique(np.linspace(0, len(shooting.windows) - 1, WINDOWS).astype(int))
    few = Shooting(shooting.simulator, shooting.windows.some(chosen), shooting.names, shooting.fixed)
    box = [((side - bounds.centre) / bounds.deviation).tolist() for side in (bounds.low, bounds.high)]
    options = {"seed": seed % 2**31 + 1, "popsize": POPULATION, "bounds": box, "verbose": -9, "maxiter": GENERATIONS}
    search = cma.CMAEvolutionStrategy(np.zeros(len(bounds.centre)), 0.5, options)
    generation = 0
    while not search.stop():
        asked = search.ask(POPULATION)
        params = bounds.centre + np.array(asked) * bounds.deviation
        starts = np.tile(few.windows.start, (len(params), 1, 1))
        z = few.residuals(params, starts) / noise
        costs = np.log1p(z**2).mean(axis=(1, 2)) + 1e-3 * (np.array(asked) ** 2).mean(axis=1)
        search.tell(asked, costs.tolist())
        generation += 1
        if progress is not None:
            progress(generation, float(costs.min()))
    return np.clip(bounds.centre + np.asarray(search.result.xbest) * bounds.deviation, bounds.low, bounds.high)
