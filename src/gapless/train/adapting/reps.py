"""A Gaussian moved towards the samples that cost least, no further than a KL divergence allows (Peters et al. 2010, REPS)."""

import numpy as np
from jaxtyping import Float

from gapless.core import Gaussian


def weights(costs: Float[np.ndarray, " sample"], limit: float) -> Float[np.ndarray, " sample"]:
    """Samples weighted by e^(−cost / η), with the smallest η whose weights are within `limit` of equal ones."""

    def at(temperature: float) -> Float[np.ndarray, " sample"]:
        raised = np.exp(-(costs - costs.min()) / temperature)
        return raised / raised.sum()

    scale = max(float(np.ptp(costs)), 1e-12)
    cold, hot = np.log(1e-6 * scale), np.log(1e6 * scale)
    if from_equal(at(float(np.exp(cold)))) <= limit:
        return at(float(np.exp(cold)))
    for _ in range(100):
        middle = (cold + hot) / 2
        cold, hot = (middle, hot) if from_equal(at(float(np.exp(middle)))) > limit else (cold, middle)
    return at(float(np.exp(hot)))


def from_equal(weight: Float[np.ndarray, " sample"]) -> float:
    """KL divergence of weights from equal ones."""
    kept = weight[weight > 0]
    return float(np.sum(kept * np.log(kept * len(weight))))


def from_standard(mean: Float[np.ndarray, " n"], covariance: Float[np.ndarray, "n n"]) -> float:
    """KL divergence of a Gaussian from the one with mean zero and unit covariance."""
    return float(0.5 * (np.trace(covariance) + mean @ mean - len(mean) - np.linalg.slogdet(covariance)[1]))


def moved(
    old: Gaussian, samples: Float[np.ndarray, "sample param"], costs: Float[np.ndarray, " sample"], limit: float
) -> Gaussian:
    """The Gaussian of the weighted samples, or as much of the way there as is within `limit` of the old one."""
    root = np.asarray(old.root, np.float64)
    white = np.linalg.solve(root, (samples - old.centre).T).T
    weight = weights(costs, limit)
    mean = weight @ white
    covariance = (weight[:, None] * (white - mean)).T @ (white - mean)
    near, far = 0.0, 1.0
    for _ in range(50):
        middle = (near + far) / 2
        near, far = (middle, far) if from_standard(*_part(mean, covariance, middle)) <= limit else (near, middle)
    mean, covariance = _part(mean, covariance, near)
    centre = np.clip(old.centre + root @ mean, old.low, old.high)
    return Gaussian(old.names, centre, root @ covariance @ root.T, old.low, old.high)


def _part(
    mean: Float[np.ndarray, " n"], covariance: Float[np.ndarray, "n n"], share: float
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n"]]:
    """A share of the way from the standard Gaussian."""
    return share * mean, (1 - share) * np.eye(len(mean)) + share * covariance
