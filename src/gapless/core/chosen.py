"""A belief with a choice beside it: which member of an ensemble acts, which rung of a ladder holds."""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from .belief import Belief
from .signals import Params


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
