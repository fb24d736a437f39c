"""A belief about what cannot be negative: a Gaussian over logarithms, and over logits where a parameter is a share."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from .belief import Belief, columns_of, named, root_of
from .signals import Params

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(48)


class LogGaussian(Belief):
    """Masses, frictions and other factors, whose doubt is relative; with shares, which end at 1, among them."""

    names: tuple[str, ...] = eqx.field(static=True)
    centre: Float[np.ndarray, " param"]
    """Mean logarithm, or logit, in the parameter's own unit."""
    covariance: Float[np.ndarray, "param param"]
    share: Float[np.ndarray, " param"]
    """1 where a parameter lies between 0 and 1, 0 where it is any positive number."""
    root: Float[np.ndarray, "param param"]

    def __init__(self, names: tuple[str, ...], centre: np.ndarray, covariance: np.ndarray, share: np.ndarray) -> None:
        self.names, self.centre, self.covariance, self.share = names, centre, covariance, share
        self.root = root_of(covariance)

    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        noise = jax.random.normal(key, (n, len(self.names)))
        return named(self.names, self._value(self.centre + noise @ self.root.T, jnp).T)

    def log_prob(self, params: Params) -> Float[jax.Array, " n"]:
        x = columns_of(self.names, params)
        inside = (x > 0) & ((x < 1) | (self.share == 0))
        safe = jnp.where(inside, x, 0.5)
        rest = jnp.where(self.share > 0, 1 - safe, 1.0)
        off = jnp.log(safe) - jnp.log(rest) - self.centre
        z = jax.scipy.linalg.solve_triangular(self.root, off.T, lower=True)
        size = len(self.names)
        density = -0.5 * (z**2).sum(0) - jnp.log(jnp.diag(self.root)).sum() - 0.5 * size * jnp.log(2 * jnp.pi)
        return jnp.where(inside.all(-1), density - (jnp.log(safe) + jnp.log(rest)).sum(-1), -jnp.inf)

    def mean(self) -> Params:
        return named(self.names, self._moment(1))

    def deviation(self) -> Params:
        return named(self.names, np.sqrt(np.maximum(self._moment(2) - self._moment(1) ** 2, 0.0)))

    def quantile(self, share: float) -> Params:
        """What each parameter lies below with this probability."""
        beyond = float(jax.scipy.special.ndtri(share))
        return named(self.names, self._value(self.centre + beyond * np.sqrt(np.diag(self.covariance)), np))

    def to_dict(self) -> dict[str, Any]:
        fields = {k: np.asarray(getattr(self, k)).tolist() for k in ("centre", "covariance", "share")}
        return {"kind": "log_gaussian", "names": list(self.names), **fields}

    def _value(self, coordinate: Any, xp: Any) -> Any:
        # Far coordinates of shares are cut before the exponential, whose overflow would not be a number.
        capped = xp.minimum(coordinate, 80.0)
        return xp.where(self.share > 0, 1 / (1 + xp.exp(-xp.maximum(capped, -80.0))), xp.exp(capped))

    def _moment(self, power: int) -> Float[np.ndarray, " param"]:
        """Expected power of each parameter, by quadrature."""
        deviation = np.sqrt(np.diag(self.covariance))
        values = self._value(np.asarray(self.centre) + NODES[:, None] * deviation, np)
        return WEIGHTS / WEIGHTS.sum() @ values**power
