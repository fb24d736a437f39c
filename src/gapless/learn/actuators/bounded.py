"""Parameters within their plausible ranges as free numbers, and back."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import Parameter, Params

EDGE = 1e-4
"""Values start at least this share of the range away from its ends, or no slope would lead back."""


def to_params(free: Float[Array, "*many param"], parameters: Sequence[Parameter]) -> Params:
    """Name → value in SI units; ranges of positive numbers are crossed in ratios."""
    inside = jax.nn.sigmoid(free)
    return {p.name: _between(inside[..., i], p) for i, p in enumerate(parameters)}


def to_free(params: Params, parameters: Sequence[Parameter]) -> Float[Array, "*many param"]:
    """The inverse of `to_params`."""
    inside = [_share(jnp.asarray(params[p.name], jnp.float32), p) for p in parameters]
    share = jnp.clip(jnp.stack(inside, axis=-1), EDGE, 1 - EDGE)
    return jnp.log(share) - jnp.log1p(-share)


def _between(share: Array, p: Parameter) -> Array:
    if p.low > 0:
        return jnp.exp(jnp.log(p.low) + share * jnp.log(p.high / p.low))
    return p.low + share * (p.high - p.low)


def _share(value: Array, p: Parameter) -> Array:
    if p.low > 0:
        return jnp.log(value / p.low) / jnp.log(p.high / p.low)
    return (value - p.low) / (p.high - p.low)
