"""A fleet: what its robots have in common, what each has of its own, and what to expect of the next one.

A normal hierarchy: each robot's parameters are drawn around the fleet's, and each robot's logs told them up to its own
covariance. Expectation-maximization finds the fleet's mean and spread (Gelman et al., Bayesian Data Analysis, chapter 5).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Gaussian

ITERATIONS = 200
LEAST = 1e-3
"""Smallest spread between robots, as a share of the plausible range: no two are alike."""


@dataclass(frozen=True)
class Fleet:
    """Beliefs over several robots of one kind."""

    common: Gaussian
    """What they have in common: the mean of the fleet, and how well it is known."""
    spread: dict[str, float]
    """The deviation of each parameter from robot to robot."""
    each: tuple[Gaussian, ...]
    """Every robot's own parameters, with what the others say about them."""
    next: Gaussian
    """A robot that nobody has measured yet: a prior that is narrow where the fleet is alike."""


def fleet(beliefs: list[Gaussian]) -> Fleet:
    """Share what was learnt about several robots; they must have the same parameters."""
    if len(beliefs) < 2:
        raise GaplessError("a fleet needs the beliefs of at least two robots. Learn another one.")
    names = beliefs[0].names
    for other in beliefs[1:]:
        if other.names != names:
            odd = sorted(set(other.names) ^ set(names)) or ["their order"]
            raise GaplessError(f"the beliefs of a fleet differ in {odd[0]}. Use one params.toml for all of its robots.")
    low, high = beliefs[0].low, beliefs[0].high
    width = np.maximum(high - low, 1e-300)
    centres = np.array([b.centre / width for b in beliefs])
    covariances = np.array([b.covariance / np.outer(width, width) for b in beliefs])
    mean, between = _maximized(centres, covariances)
    own = [_own(c, s, mean, between) for c, s in zip(centres, covariances, strict=True)]
    known = np.linalg.inv(sum(np.linalg.inv(s + between) for s in covariances))

    def belief(centre: np.ndarray, covariance: np.ndarray) -> Gaussian:
        whole = (covariance + covariance.T) / 2 * np.outer(width, width)
        return Gaussian(names, np.clip(centre * width, low, high), whole, low, high)

    return Fleet(
        belief(mean, known),
        dict(zip(names, (np.sqrt(np.diag(between)) * width).tolist(), strict=True)),
        tuple(belief(*o) for o in own),
        belief(mean, between + known),
    )


def _maximized(
    centres: Float[np.ndarray, "robot param"], covariances: Float[np.ndarray, "robot param param"]
) -> tuple[Float[np.ndarray, " param"], Float[np.ndarray, "param param"]]:
    """Mean and covariance between robots, the latter diagonal: few robots say little about correlations."""
    mean, between = centres.mean(axis=0), np.diag(np.maximum(centres.var(axis=0), LEAST**2))
    for _ in range(ITERATIONS):
        own = [_own(c, s, mean, between) for c, s in zip(centres, covariances, strict=True)]
        mean = np.mean([c for c, _ in own], axis=0)
        spread = np.mean([(c - mean) ** 2 + np.diag(s) for c, s in own], axis=0)
        between = np.diag(np.maximum(spread, LEAST**2))
    # The mean takes one degree of freedom.
    return mean, between * len(centres) / (len(centres) - 1)


def _own(
    centre: np.ndarray, covariance: np.ndarray, mean: np.ndarray, between: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One robot's parameters, its own logs and the fleet taken together."""
    gain = between @ np.linalg.inv(between + covariance)
    return mean + gain @ (centre - mean), between - gain @ between
