"""A distribution over parameters: prior, posterior, randomization range and point estimate are all beliefs."""

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from .errors import GaplessError
from .parameter import Parameter
from .reading import LARGEST_JSON, plain_object, read_limited
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
        same = _columns(self.names, params) == self.values
        return jnp.where(same.all(-1), 0.0, -jnp.inf)

    def mean(self) -> Params:
        return _named(self.names, self.values)

    def deviation(self) -> Params:
        return _named(self.names, np.zeros_like(self.values))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "point", "names": list(self.names), "values": self.values.tolist()}


class Uniform(Belief):
    """Every value of a box is as good as any other: the classic randomization range."""

    names: tuple[str, ...] = eqx.field(static=True)
    low: Float[np.ndarray, " param"]
    high: Float[np.ndarray, " param"]

    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        draws = jax.random.uniform(key, (n, len(self.names)), minval=self.low, maxval=self.high)
        return _named(self.names, draws.T)

    def log_prob(self, params: Params) -> Float[jax.Array, " n"]:
        x = _columns(self.names, params)
        inside = ((x >= self.low) & (x <= self.high)).all(-1)
        return jnp.where(inside, -jnp.log(self.high - self.low).sum(), -jnp.inf)

    def mean(self) -> Params:
        return _named(self.names, (self.low + self.high) / 2)

    def deviation(self) -> Params:
        return _named(self.names, (self.high - self.low) / np.sqrt(12.0))

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
        self.root = _root(covariance)

    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        """Draws by rejection; one that missed the box in every round is clipped to it."""
        noise = jax.random.normal(key, (REJECTION_ROUNDS, n, len(self.names)))
        draws = self.centre + noise @ self.root.T
        inside = ((draws >= self.low) & (draws <= self.high)).all(-1)
        first = jnp.argmax(inside, axis=0)
        chosen = jnp.clip(draws[first, jnp.arange(n)], self.low, self.high)
        return _named(self.names, chosen.T)

    def log_prob(self, params: Params) -> Float[jax.Array, " n"]:
        """Log density of the Gaussian before the cut, which differs from that of the belief by one constant."""
        x = _columns(self.names, params)
        z = jax.scipy.linalg.solve_triangular(self.root, (x - self.centre).T, lower=True)
        size = len(self.names)
        density = -0.5 * (z**2).sum(0) - jnp.log(jnp.diag(self.root)).sum() - 0.5 * size * jnp.log(2 * jnp.pi)
        slack = 1e-6 * (self.high - self.low)  # draws come in single precision
        inside = ((x >= self.low - slack) & (x <= self.high + slack)).all(-1)
        return jnp.where(inside, density, -jnp.inf)

    def mean(self) -> Params:
        return _named(self.names, self.centre)

    def deviation(self) -> Params:
        return _named(self.names, np.sqrt(np.diag(self.covariance)))

    def to_dict(self) -> dict[str, Any]:
        fields = {k: getattr(self, k).tolist() for k in ("centre", "covariance", "low", "high")}
        return {"kind": "gaussian", "names": list(self.names), **fields}


class Chosen(Belief):
    """A belief and, beside it, a choice among equally likely numbers 0 … count − 1, e.g. which member of an ensemble acts."""

    names: tuple[str, ...] = eqx.field(static=True)
    beside: Belief
    choice: str = eqx.field(static=True)
    count: int = eqx.field(static=True)

    def __init__(self, beside: Belief, choice: str, count: int) -> None:
        self.names, self.beside, self.choice, self.count = (*beside.names, choice), beside, choice, count

    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        keys = jax.random.split(key)
        drawn = jax.random.randint(keys[1], (n,), 0, self.count).astype(jnp.float32)
        return self.beside.sample(keys[0], n) | {self.choice: drawn}

    def log_prob(self, params: Params) -> Float[jax.Array, " n"]:
        number = jnp.atleast_1d(jnp.asarray(params[self.choice]))
        possible = (number == jnp.round(number)) & (number >= 0) & (number < self.count)
        return self.beside.log_prob(params) + jnp.where(possible, -jnp.log(self.count), -jnp.inf)

    def mean(self) -> Params:
        return self.beside.mean() | {self.choice: np.asarray((self.count - 1) / 2)}

    def deviation(self) -> Params:
        return self.beside.deviation() | {self.choice: np.asarray(math.sqrt((self.count**2 - 1) / 12))}

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "chosen", "beside": self.beside.to_dict(), "choice": self.choice, "count": self.count}


KINDS: Mapping[str, type[Belief]] = {"point": Point, "uniform": Uniform, "gaussian": Gaussian}
MOST_CHOICES = 1000
"""Numbers to choose from beyond which a stored belief is taken to be damaged."""


def belief_from_dict(plain: dict[str, Any]) -> Belief:
    """The belief that `to_dict` wrote; whatever else anybody may have written is refused."""
    kind = KINDS.get(str(plain.get("kind", "")))
    if plain.get("kind") == "chosen":
        return _chosen(plain)
    if kind is None:
        known = ", ".join((*KINDS, "chosen"))
        raise GaplessError(f"unknown kind of belief {plain.get('kind')!r:.60}; it must be one of {known}.")
    try:
        names = _names(plain["names"])
        arrays = {k: _array(k, v, len(names)) for k, v in plain.items() if k not in ("kind", "names")}
        if not np.all(arrays.get("low", -np.inf) <= arrays.get("high", np.inf)):
            raise ValueError("low is above high")
        return kind(names=names, **arrays)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise GaplessError(
            f"this is no {plain['kind']} belief: {type(error).__name__} {error}. Learn it again."
        ) from None


def _chosen(plain: dict[str, Any]) -> Chosen:
    beside: Any = plain.get("beside")
    choice, count = plain.get("choice"), plain.get("count")
    right = isinstance(beside, dict) and beside.get("kind") in KINDS and isinstance(choice, str)
    if not right or not isinstance(count, int) or not 1 <= count <= MOST_CHOICES:
        raise GaplessError("this is no chosen belief: beside, choice or count is not what it must be. Learn it again.")
    return Chosen(belief_from_dict(beside), str(choice), count)


def read_belief(path: Path) -> Belief:
    """The belief in a JSON file."""
    try:
        return belief_from_dict(plain_object(read_limited(path, LARGEST_JSON)))
    except (GaplessError, ValueError) as error:
        raise GaplessError(
            f"{path} cannot be read as a belief ({error}). Remove its folder to learn it again."
        ) from None


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


def _names(plain: Any) -> tuple[str, ...]:
    if (
        not isinstance(plain, list | tuple)
        or not all(isinstance(n, str) for n in plain)
        or len(set(plain)) < len(plain)
    ):
        raise ValueError("its names are not a list of different words")
    return tuple(plain)


def _array(key: str, plain: Any, size: int) -> Float[np.ndarray, "..."]:
    """One array of a belief about `size` parameters; a covariance must be a possible one."""
    shape = (size, size) if key == "covariance" else (size,)
    found = np.asarray(plain, np.float64)
    if found.size != math.prod(shape) or (size and found.shape != shape) or not np.all(np.isfinite(found)):
        raise ValueError(f"{key} must hold {' × '.join(map(str, shape))} finite numbers")
    if key == "covariance" and size and not (np.all(np.diag(found) > 0) and np.allclose(found, found.T)):
        raise ValueError("the covariance is not symmetric with a positive diagonal")
    return found.reshape(shape)


def _root(covariance: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    if not len(covariance):
        return covariance
    scale = np.sqrt(np.diag(covariance))
    relative = covariance / np.outer(scale, scale)
    return np.linalg.cholesky(relative + 1e-10 * np.eye(len(scale))) * scale[:, None]


def _columns(names: tuple[str, ...], params: Params) -> Float[jax.Array, "n param"]:
    return jnp.stack([jnp.atleast_1d(jnp.asarray(params[k])) for k in names], axis=-1)


def _named(names: tuple[str, ...], rows: Any) -> Params:
    return dict(zip(names, rows, strict=True))
