"""What one robot adds to what a look expects of all robots, as far as it has shown itself there.

A linear correction on what the look reads, and how well the robot's own episodes support it: where they do, deviations are as
small as those episodes left them; where a motion is unlike all of them, correction and deviation go back to those of the look.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class Lean(eqx.Module):
    """A correction for each measured number; all in the look's deviations."""

    weights: Float[Array, "width basis"]
    doubt: Float[Array, "width basis basis"]
    """Covariance of the weights, up to the size of what is left over."""
    usual: Float[Array, " width"]
    """Variance by that doubt up to which a motion is like the robot's own."""
    left: Float[Array, " width"]
    """Deviation that the robot's own episodes leave over."""

    def __call__(self, off: Float[Array, " width"], basis: Float[Array, "width basis"]) -> Float[Array, " width"]:
        """What is off after the correction, in the deviations that then remain."""
        doubt = jnp.einsum("wa,wab,wb->w", basis, self.doubt, basis)
        share = jnp.minimum(1.0, self.usual / jnp.maximum(doubt, 1e-12))
        spread = share * self.left**2 + (1 - share) * jnp.maximum(1.0, self.left**2)
        return (off - share * jnp.sum(self.weights * basis, axis=1)) / jnp.sqrt(spread)


def blank_lean(width: int, basis: int) -> Lean:
    """A correction of nothing."""
    zeros = jnp.zeros((width, basis))
    return Lean(zeros, jnp.zeros((width, basis, basis)), jnp.ones(width), jnp.ones(width))
