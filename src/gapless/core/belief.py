"""A distribution over parameters: prior, posterior, randomization range and point estimate are all beliefs."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from .parameter import Parameter
from .signals import Params

REJECTION_ROUNDS = 32


class Belief(eqx.Module):
    """What is known about the parameters, and how surely."""

    names: eqx.AbstractVar[tuple[str, ...]]

    @abstractmethod
    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        """n draws, each parameter as (n,)."""

    @abstractmethod
    def log_prob(self, params: Params) -> Float[jax.Array, " n"]:
        """Log density of each of n draws; −inf outside the support."""

    @abstractmethod
    def mean(self) -> Params:
        """The expected value of each parameter, as a scalar array."""

    @abstractmethod
    def deviation(self) -> Params:
        """The standard deviation of each parameter, as a scalar array."""

    def prepared(self) -> Self:
        """The same belief on the device, to be passed to traced functions as an argument."""
        return jax.tree.map(jnp.asarray, self)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values that `belief_from_dict` reads back exactly."""


class Point(Belief):
    """No doubt at all."""

    names: tuple[str, ...] = eqx.field(static=True)
    values: Float[np.ndarray, " param"]

    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        return {k: jnp.full((n,), v) for k, v in zip(self.names, self.values, strict=True)}

    def log_prob(self, params: Params) -> Float[jax.Array, " n"]:
        same = columns_of(self.names, params) == self.values
        return jnp.where(same.all(-1), 0.0, -jnp.inf)

    def mean(self) -> Params:
        return named(self.names, self.values)

    def deviation(self) -> Params:
        return named(self.names, np.zeros_like(self.values))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "point", "names": list(self.names), "values": self.values.tolist()}


class Uniform(Belief):
    """Every value of a box is as good as any other: the classic randomization range."""

    names: tuple[str, ...] = eqx.field(static=True)
    low: Float[np.ndarray, " param"]
    high: Float[np.ndarray, " param"]

    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        draws = jax.random.uniform(key, (n, len(self.names)), minval=self.low, maxval=self.high)
        return named(self.names, draws.T)

    def log_prob(self, params: Params) -> Float[jax.Array, " n"]:
        x = columns_of(self.names, params)
        inside = ((x >= self.low) & (x <= self.high)).all(-1)
        return jnp.where(inside, -jnp.log(self.high - self.low).sum(), -jnp.inf)

    def mean(self) -> Params:
        return named(self.names, (self.low + self.high) / 2)

    def deviation(self) -> Params:
        return named(self.names, (self.high - self.low) / np.sqrt(12.0))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "uniform", "names": list(self.names), "low": self.low.tolist(), "high": self.high.tolist()}


class Gaussian(Belief):
    """A Gaussian cut off at the limits of what is plausible; what identification returns."""

    names: tuple[str, ...] = eqx.field(static=True)
    centre: Float[np.ndarray, " param"]
    covariance: Float[np.ndarray, "param param"]
    low: Float[np.ndarray, " param"]
    high: Float[np.ndarray, " param"]
    root: Float[np.ndarray, "param param"]
    """Its Cholesky factor, taken in double precision: masses and latencies differ by orders of magnitude."""

    def __init__(
        self, names: tuple[str, ...], centre: np.ndarray, covariance: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> None:
        self.names, self.centre, self.covariance, self.low, self.high = names, centre, covariance, low, high
        self.root = root_of(covariance)

    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        """Draws by rejection; one that missed the box in every round is clipped to it."""
        noise = jax.random.normal(key, (REJECTION_ROUNDS, n, len(self.names)))
        draws = self.centre + noise @ self.root.T
        inside = ((draws >= self.low) & (draws <= self.high)).all(-1)
        first = jnp.argmax(inside, axis=0)
        chosen = jnp.clip(draws[first, jnp.arange(n)], self.low, self.high)
        return named(self.names, chosen.T)

    def log_prob(self, params: Params) -> Float[jax.Array, " n"]:
        """Log density of the Gaussian before the cut, which differs from that of the belief by one constant."""
        x = columns_of(self.names, params)
        z = jax.scipy.linalg.solve_triangular(self.root, (x - self.centre).T, lower=True)
        size = len(self.names)
        density = -0.5 * (z**2).sum(0) - jnp.log(jnp.diag(self.root)).sum() - 0.5 * size * jnp.log(2 * jnp.pi)
        slack = 1e-6 * (self.high - self.low)  # draws come in single precision
        inside = ((x >= self.low - slack) & (x <= self.high + slack)).all(-1)
        return jnp.where(inside, density, -jnp.inf)

    def mean(self) -> Params:
        return named(self.names, self.centre)

    def deviation(self) -> Params:
        return named(self.names, np.sqrt(np.diag(self.covariance)))

    def to_dict(self) -> dict[str, Any]:
        fields = {k: getattr(self, k).tolist() for k in ("centre", "covariance", "low", "high")}
        return {"kind": "gaussian", "names": list(self.names), **fields}


def nominal_belief(parameters: Iterable[Parameter]) -> Point:
    """What the data sheet says, without doubt."""
    listed = list(parameters)
    return Point(tuple(p.name for p in listed), np.array([p.nominal for p in listed], np.float64))


def prior_belief(parameters: Iterable[Parameter]) -> Gaussian:
    """Nominal values with doubt that fills the plausible range: half of it is two standard deviations."""
    free = [p for p in parameters if p.free]
    low, high = (np.array([getattr(p, side) for p in free], np.float64) for side in ("low", "high"))
    centre = np.array([p.nominal for p in free], np.float64)
    return Gaussian(tuple(p.name for p in free), centre, np.diag(((high - low) / 4) ** 2), low, high)


def complete(params: Params, parameters: Iterable[Parameter], n: int) -> Params:
    """All parameters as (n,): the given ones, and the nominal value of those not given."""
    given = {k: jnp.broadcast_to(jnp.asarray(v), (n,)) for k, v in params.items()}
    return {p.name: given[p.name] if p.name in given else jnp.full((n,), p.nominal) for p in parameters}


def root_of(covariance: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Its Cholesky factor, whatever the units of its rows."""
    if not len(covariance):
        return covariance
    scale = np.sqrt(np.diag(covariance))
    relative = covariance / np.outer(scale, scale)
    return np.linalg.cholesky(relative + 1e-10 * np.eye(len(scale))) * scale[:, None]


def columns_of(names: tuple[str, ...], params: Params) -> Float[jax.Array, "n param"]:
    """Parameters side by side, in the order of `names`."""
    return jnp.stack([jnp.atleast_1d(jnp.asarray(params[k])) for k in names], axis=-1)


def named(names: tuple[str, ...], rows: Any) -> Params:
    """Rows by the names of their parameters."""
    return dict(zip(names, rows, strict=True))
