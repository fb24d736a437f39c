"""Returns over strategies as a Gaussian process: what a strategy is probably worth after a few noisy episodes of others."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

LENGTHS = (0.5, 1.0, 2.0)
"""Distances over which returns change, in deviations of the belief, among which the likelihood chooses."""
NOISES = (0.05, 0.2, 0.5)
"""Likewise, the share of the returns' variance that is chance: starts differ from episode to episode."""


class Surface(NamedTuple):
    """Strategies that were tried, with their returns in deviations from their mean."""

    tried: Float[np.ndarray, "try size"]
    values: Float[np.ndarray, " try"]
    length: float
    noise: float
    """Variance of chance, where strategies have 1."""

    def at(self, where: Float[np.ndarray, "n size"]) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Mean and deviation of what strategies are worth, chance left out."""
        across = kernel(where, self.tried, self.length)
        inverse = np.linalg.inv(kernel(self.tried, self.tried, self.length) + self.noise * np.eye(len(self.tried)))
        variance = 1.0 - np.einsum("ij,jk,ik->i", across, inverse, across)
        return across @ inverse @ self.values, np.sqrt(np.maximum(variance, 1e-12))

    def likelihood(self) -> float:
        """The logarithm of the returns' density, up to a constant."""
        spread = kernel(self.tried, self.tried, self.length) + self.noise * np.eye(len(self.tried))
        return float(-0.5 * self.values @ np.linalg.solve(spread, self.values) - 0.5 * np.linalg.slogdet(spread)[1])

    def best(self) -> int:
        """Which of the tried strategies is probably worth most; the first of equals."""
        return int(np.argmax(np.round(self.at(self.tried)[0], 9)))

    def improvement(self, where: Float[np.ndarray, "n size"]) -> Float[np.ndarray, " n"]:
        """By how much strategies are expected to beat the best of those tried (Mockus 1975)."""
        mean, deviation = self.at(where)
        better = mean - self.at(self.tried)[0].max()
        z = better / deviation
        return better * ndtr(z) + deviation * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)


def surface(tried: Float[np.ndarray, "try size"], returns: Float[np.ndarray, " try"]) -> Surface:
    """The process through these returns whose length and noise explain them best."""
    deviation = float(np.std(returns))
    values = (returns - np.mean(returns)) / (deviation if deviation > 1e-9 else 1.0)
    # The noise is added to a variance of strategies of 1: both together are as wide as the returns.
    surfaces = [Surface(tried, values, length, noise / (1 - noise)) for length in LENGTHS for noise in NOISES]
    return max(surfaces, key=Surface.likelihood)


def kernel(a: Float[np.ndarray, "n size"], b: Float[np.ndarray, "m size"], length: float) -> Float[np.ndarray, "n m"]:
    """How alike strategies are: 1 at the same place, e^−½ one length apart."""
    return np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1) / length**2)
