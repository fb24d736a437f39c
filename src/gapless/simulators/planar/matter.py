"""What a part is made of, as an embedding: each coordinate of z is a property, as a logarithm or a logit."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Float

Array = Any
"""Of NumPy or of JAX."""
NAMED = ("mass", "inertia", "friction", "restitution", "drag", "size")
"""In kg; times that of uniform matter; against other parts; share of speed after a bounce; against the table below; times
the outline."""
WIDTH = len(NAMED)
TYPICAL = {"mass": 1.0, "inertia": 1.0, "friction": 0.4, "drag": 0.3, "size": 1.0}
"""Where a logarithm is zero."""


def embedding(**properties: Array | float) -> Float[Array, "*part embedding"]:
    """The coordinates of known properties; those that are not given are typical."""
    rows = [coordinate(name, jnp.asarray(properties.get(name, TYPICAL.get(name, 0.2)))) for name in NAMED]
    return jnp.stack(jnp.broadcast_arrays(*rows), -1)


def coordinate(name: str, value: Float[Array, "*part"]) -> Float[Array, "*part"]:
    """A property in its own unit, as its coordinate of z."""
    if name == "restitution":
        share = jnp.clip(value, 1e-3, 1 - 1e-3)
        return jnp.log(share) - jnp.log1p(-share)
    return jnp.log(jnp.maximum(value, 1e-4) / TYPICAL[name])


def named(z: Float[Array, "*part embedding"], name: str) -> Float[Array, "*part"]:
    """A property in its own unit."""
    value = z[..., NAMED.index(name)]
    return jax.nn.sigmoid(value) if name == "restitution" else TYPICAL[name] * jnp.exp(value)
