"""A belief of any shape: draws from it, and a little blur around each."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from .belief import Belief, Gaussian, columns_of, named, root_of
from .signals import Params


class Particles(Belief):
    """What a Gaussian cannot say: bent, skewed or many-peaked posteriors, as particles of equal weight."""

    names: tuple[str, ...] = eqx.field(static=True)
    particles: Float[np.ndarray, "particle param"]
    low: Float[np.ndarray, " param"]
    high: Float[np.ndarray, " param"]
    root: Float[np.ndarray, "param param"]
    """Cholesky factor of the blur, by Silverman's rule."""

    def __init__(self, names: tuple[str, ...], particles: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        self.names, self.particles, self.low, self.high = names, particles, low, high
        size = particles.shape[1]
        floor = np.diag((1e-6 * (high - low)) ** 2)
        spread = np.cov(particles.T, bias=True).reshape(size, size)
        self.root = _width(particles) * root_of(spread + floor)

    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        keys = jax.random.split(key)
        count, size = self.particles.shape
        chosen = jnp.asarray(self.particles)[jax.random.randint(keys[0], (n,), 0, count)]
        blurred = chosen + jax.random.normal(keys[1], (n, size)) @ self.root.T
        # Drawn towards the mean by as much as the blur widens, so that the spread stays that of the particles.
        mean = self.particles.mean(0)
        draws = mean + (blurred - mean) / np.sqrt(1 + _width(self.particles) ** 2)
        return named(self.names, jnp.clip(draws, self.low, self.high).T)

    def log_prob(self, params: Params) -> Float[jax.Array, " n"]:
        x, (count, size) = columns_of(self.names, params), self.particles.shape
        mean, widened = self.particles.mean(0), np.sqrt(1 + _width(self.particles) ** 2)
        off = ((mean + widened * (x - mean))[:, None] - self.particles[None]).reshape(-1, size)
        z = jax.scipy.linalg.solve_triangular(self.root, off.T, lower=True).T.reshape(len(x), count, size)
        constant = jnp.log(jnp.diag(self.root)).sum() + size * (0.5 * np.log(2 * np.pi) - np.log(widened))
        density = jax.scipy.special.logsumexp(-0.5 * (z**2).sum(-1), axis=1) - np.log(count) - constant
        slack = 1e-6 * (self.high - self.low)  # draws come in single precision
        inside = ((x >= self.low - slack) & (x <= self.high + slack)).all(-1)
        return jnp.where(inside, density, -jnp.inf)

    def mean(self) -> Params:
        return named(self.names, self.particles.mean(0))

    def deviation(self) -> Params:
        return named(self.names, np.asarray(self.particles).std(0))

    def gaussian(self) -> Gaussian:
        """The Gaussian of the same mean and covariance, for those who need one."""
        spread = np.cov(self.particles.T, bias=True).reshape(len(self.names), -1)
        floor = np.diag((1e-6 * (self.high - self.low)) ** 2)
        return Gaussian(self.names, self.particles.mean(0), spread + floor, self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        fields = {k: np.asarray(getattr(self, k)).tolist() for k in ("particles", "low", "high")}
        return {"kind": "particles", "names": list(self.names), **fields}


def _width(particles: Any) -> float:
    """Silverman's: of the blur, in deviations of the particles."""
    count, size = particles.shape
    return (4 / (count * (size + 2))) ** (1 / (size + 4))
