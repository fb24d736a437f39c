"""Beyond the Gaussian: particles carried from a fit's Gaussian to the posterior itself by tempering, moving as they go.

Sequential Monte Carlo (Del Moral et al. 2006) whose every likelihood is a column of the batch; each window's start follows
the parameters by one Gauss-Newton step.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError
from gapless.core.belief import root_of

from .least_squares import Fit, Problem, told_of_starts

WIDER = 2.0
"""Deviations of the first particles, in those of the Gaussian they come from."""
ALIVE = 0.5
"""Share of the particles that a step of the temperature must leave effective."""
BEND, BROKEN = 6.0, 50.0
"""Ratio of cost and its parabola at which a posterior is no longer a Gaussian (one side is two and a half times as wide, or
as narrow, as it says), and at which the windows run away instead."""
ALIKE = 0.25
"""Share of the particles that must be different in the end."""
REACH = 1.5
"""How far from the fit that is tried, in deviations."""


@dataclass(frozen=True)
class Temper:
    """Carry particles from the fitted Gaussian to the posterior."""

    particles: int = 96
    """How many."""
    moves: int = 3
    """Metropolis moves after each step of the temperature."""
    steps: int = 12
    """Steps of the temperature at most."""

    def __post_init__(self) -> None:
        if self.particles < 8 or self.moves < 1 or self.steps < 1:
            raise GaplessError("tempering needs at least 8 particles, one move and one step.")


class Likelihood:
    """The cost of parameters around a fit, starts following them."""

    def __init__(self, problem: Problem, found: Fit, chi_square: float) -> None:
        self.shooting, self.bounds, self.level, self.found = problem.shooting, problem.bounds, problem.level, found
        self.scale = max(1.0, chi_square)
        js = found.slopes.by_start / self.level[:, None]
        h_inv = np.linalg.inv(told_of_starts(js))
        self._follow = np.einsum("wst,wqt->wsq", h_inv, js)
        self._by_param = -np.einsum("wsq,wqp->wsp", self._follow, found.slopes.by_param / self.level[:, None])
        self.least = float(self.of(found.params[None])[0])

    def of(self, params: Float[np.ndarray, "copy param"]) -> Float[np.ndarray, " copy"]:
        """Minus twice the log posterior, up to a constant; infinite outside the prior's box."""
        inside = ((params >= self.bounds.low) & (params <= self.bounds.high)).all(axis=1)
        held = np.clip(params, self.bounds.low, self.bounds.high)
        starts = self.found.starts + np.einsum("wsp,cp->cws", self._by_param, held - self.found.params)
        z = self.shooting.residuals(held, starts) / self.level
        followed = starts - np.einsum("wsq,cwq->cws", self._follow, np.clip(z, -10, 10))
        other = self.shooting.residuals(held, followed) / self.level
        # Where a joint sticks or comes loose the step may lead astray: each window keeps the better of its two starts.
        robust = np.minimum(_robust(z), _robust(other)).sum(axis=1) / self.scale
        pull = (((held - self.bounds.centre) / self.bounds.deviation) ** 2).sum(axis=1)
        return np.where(inside, robust + pull, np.inf)


def _robust(z: Float[np.ndarray, "copy window query"]) -> Float[np.ndarray, "copy window"]:
    """The cost of each window, as least squares counts it."""
    return np.where(np.abs(z) < 10, z**2, 20 * np.abs(z) - 100).sum(axis=2)


def bend(likelihood: Likelihood, covariance: Float[np.ndarray, "param param"]) -> float:
    """How far the posterior is from a Gaussian: the worst ratio of the cost to its parabola, along the principal axes."""
    deviation = likelihood.bounds.deviation
    values, axes = np.linalg.eigh(covariance / np.outer(deviation, deviation))
    reach = REACH * np.sqrt(np.maximum(values, 0.0)) * axes * deviation[:, None]
    tried = np.concatenate([likelihood.found.params + reach.T, likelihood.found.params - reach.T])
    rise = likelihood.of(tried) - likelihood.least
    ratio = np.maximum(rise, 1e-3)[np.isfinite(rise)] / REACH**2
    return float(np.max(np.maximum(ratio, 1 / ratio), initial=1.0))


def temper(
    likelihood: Likelihood, covariance: Float[np.ndarray, "param param"], recipe: Temper, seed: int
) -> Float[np.ndarray, "particle param"] | None:
    """Particles of the posterior, from a Gaussian around the fit; None where they die out on the way."""
    rng, bounds = np.random.default_rng(seed), likelihood.bounds
    root = WIDER * root_of(covariance)
    precision = np.linalg.inv(root @ root.T)

    def before(x: np.ndarray) -> np.ndarray:
        off = x - likelihood.found.params
        return np.einsum("cp,pq,cq->c", off, precision, off)

    drawn = likelihood.found.params + rng.standard_normal((recipe.particles, len(covariance))) @ root.T
    x = np.clip(drawn, bounds.low, bounds.high)
    cost, began, heat = likelihood.of(x), before(x), 0.0
    for _ in range(recipe.steps):
        step = _step(cost - began, heat)
        weight = np.exp(-0.5 * step * (cost - began - np.min(cost - began)))
        heat += step
        chosen = rng.choice(len(x), len(x), p=weight / weight.sum())
        x, cost, began = x[chosen], cost[chosen], began[chosen]
        x, cost, began = _moved(likelihood, before, (x, cost, began), heat, recipe.moves, rng)
        if heat >= 1:
            break
    alive = heat >= 1 and len(np.unique(x, axis=0)) >= ALIKE * len(x)
    return x if alive else None


def _step(off: Float[np.ndarray, " particle"], heat: float) -> float:
    """The largest step of the temperature that leaves enough particles effective, by bisection."""

    def alive(step: float) -> bool:
        weight = np.exp(-0.5 * step * (off - np.min(off)))
        return weight.sum() ** 2 / (weight**2).sum() >= ALIVE * len(off)

    low, high = 0.0, 1.0 - heat
    if alive(high):
        return high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if alive(middle) else (low, middle)
    return max(low, 1e-4)


def _moved(
    likelihood: Likelihood, before: Callable[[np.ndarray], np.ndarray], held: tuple[np.ndarray, np.ndarray, np.ndarray],
    heat: float, moves: int, rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Random walks by the particles' own spread, accepted as the tempered posterior wants it."""
    x, cost, began = held
    count, size = x.shape
    stride = 2.38 / np.sqrt(size)
    for _ in range(moves):
        floor = np.diag((1e-9 * likelihood.bounds.deviation) ** 2)
        root = root_of(np.cov(x.T, bias=True).reshape(size, size) + floor)
        tried = x + stride * rng.standard_normal((count, size)) @ root.T
        tried_cost, tried_began = likelihood.of(tried), before(tried)
        rise = heat * (tried_cost - cost) + (1 - heat) * (tried_began - began)
        taken = np.log(rng.random(count)) < -0.5 * rise
        x, cost = np.where(taken[:, None], tried, x), np.where(taken, tried_cost, cost)
        began = np.where(taken, tried_began, began)
        stride *= np.exp(taken.mean() - 0.3)  # towards an acceptance at which random walks get around
    return x, cost, began
