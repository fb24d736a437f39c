"""Running mean and deviation of observations, merged batch by batch."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

LASTING = 1e9
"""Rows that the normalisation of a trained network is worth. At a hundred thousand, other starts moved it by a tenth of a
deviation before anything was learnt, and a swing-up that always passed never did."""


class Normaliser(NamedTuple):
    """Moments of everything seen so far."""

    count: Float[Array, ""]
    mean: Float[Array, " width"]
    variance: Float[Array, " width"]

    @property
    def shift(self) -> Float[Array, " width"]:
        return self.mean

    @property
    def scale(self) -> Float[Array, " width"]:
        """Multiply with this after subtracting the shift."""
        return 1 / jnp.sqrt(self.variance + 1e-6)


def new_normaliser(width: int) -> Normaliser:
    return Normaliser(jnp.asarray(1e-2), jnp.zeros(width), jnp.ones(width))


def recalled(shift: Float[Array, " width"], scale: Float[Array, " width"]) -> Normaliser:
    """What a trained network has seen, by its normalisation: worth so many rows that new ones hardly move it."""
    return Normaliser(jnp.asarray(LASTING), shift, 1 / scale**2 - 1e-6)


def update(normaliser: Normaliser, rows: Float[Array, "row width"]) -> Normaliser:
    """The moments with these rows counted in (Chan's parallel formula)."""
    n, (count, mean, variance) = rows.shape[0], normaliser
    change = rows.mean(0) - mean
    total = count + n
    spread = variance * count + rows.var(0) * n + change**2 * count * n / total
    return Normaliser(total, mean + change * n / total, spread / total)
