"""From a fit to a belief: its covariance with every doubt there is, and particles where a Gaussian does not do."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from gapless.core import Gaussian, Particles, Simulator

from .least_squares import Bounds, Fit, Problem
from .tempering import BEND, BROKEN, Likelihood, Temper, bend, temper
from .uncertainty import covariance_of

CHANCE = 1.2
"""Chi-square that a right model reaches by chance: two deviations of a noise variance read off a few logs."""
Shape = Literal["auto", "gaussian", "particles"]


@dataclass(frozen=True)
class Posterior:
    """What is known about the fitted parameters."""

    centre: Float[np.ndarray, " param"]
    covariance: Float[np.ndarray, "param param"]
    bend: float = 1.0
    """Worst ratio of the cost and its parabola."""
    cloud: Float[np.ndarray, "particle param"] | None = None


def posterior(
    problem: Problem, found: Fit, chi_square: float, doubt: float, shape: Shape, recipe: Temper, seed: int
) -> Posterior:
    """The parameters' distribution; every parameter keeps some `doubt` where the model does not explain the logs."""
    covariance = covariance_of(problem, found, chi_square)
    covariance = covariance + np.diag((lasting_doubt(chi_square, doubt) * found.params) ** 2)
    if shape == "gaussian" or (shape == "auto" and misfit(chi_square) == 1.0):
        return Posterior(found.params, covariance)  # what the model cannot explain drowns the posterior's shape
    likelihood = Likelihood(problem, found, chi_square)
    told = np.linalg.inv(found.information) * likelihood.scale
    bent = bend(likelihood, told)
    wanted = shape == "particles" or BEND < bent < BROKEN
    found_there = temper(likelihood, told, recipe, seed) if wanted else None
    if found_there is None:
        return Posterior(found.params, covariance, bent)
    cloud = _widened(found_there, covariance - told, problem.bounds, seed)
    return Posterior(cloud.mean(axis=0), np.cov(cloud.T).reshape(covariance.shape), bent, cloud)


def lasting_doubt(chi_square: float, doubt: float) -> float:
    """Relative deviation that every parameter keeps, whatever is recorded: up to `doubt` where the model explains nothing."""
    return doubt * float(np.sqrt(misfit(chi_square / CHANCE)))


def misfit(chi_square: float) -> float:
    """How far the model is from explaining the logs: 0 up to a chi-square of one, 1 from ten on.

    What no parameter expresses leaks into all of them, and their own intervals do not know it.
    """
    return float(np.clip(np.log10(max(chi_square, 1.0)), 0.0, 1.0))


def _widened(cloud: np.ndarray, more: np.ndarray, bounds: Bounds, seed: int) -> np.ndarray:
    """The particles with the doubts that no likelihood knows: disagreeing windows, the time step, misfit."""
    values, axes = np.linalg.eigh((more + more.T) / 2)
    root = axes * np.sqrt(np.maximum(values, 0.0))
    noise = np.random.default_rng(seed + 1).standard_normal(cloud.shape) @ root.T
    return np.clip(cloud + noise, bounds.low, bounds.high)


def with_noise(prior: Gaussian, known: Posterior, noise: dict[str, float], simulator: Simulator) -> Gaussian:
    """The belief over what was fitted, and the sensors' noise beside it where the simulator has a parameter for it."""
    listed = {p.name for p in simulator.parameters}
    extra = {f"{c}.noise": v for c, v in noise.items() if f"{c}.noise" in listed and f"{c}.noise" not in prior.names}
    size, more = len(known.centre), np.array(list(extra.values()))
    full = np.zeros((size + len(more),) * 2)
    full[:size, :size] = known.covariance
    full[np.arange(size, len(full)), np.arange(size, len(full))] = (0.05 * more) ** 2
    return Gaussian(
        prior.names + tuple(extra),
        np.concatenate([known.centre, more]),
        full,
        np.concatenate([prior.low, 0.5 * more]),
        np.concatenate([prior.high, 2 * more]),
    )


def particles_of(known: Posterior, belief: Gaussian, seed: int) -> Particles | None:
    """The particles with the sensors' noise, of which only mean and deviation are known, beside them."""
    cloud = known.cloud
    if cloud is None:
        return None
    extra = cloud.shape[1]
    centre, deviation = belief.centre[extra:], np.sqrt(np.diag(belief.covariance))[extra:]
    rng = np.random.default_rng(seed + 2)
    noise = np.clip(
        centre + deviation * rng.standard_normal((len(cloud), len(centre))), belief.low[extra:], belief.high[extra:]
    )
    return Particles(belief.names, np.concatenate([cloud, noise], axis=1), belief.low, belief.high)
