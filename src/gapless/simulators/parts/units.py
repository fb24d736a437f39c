"""A hidden layer of waves and plain sums under several sets of last weights: one set for each member of an ensemble."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class Units(eqx.Module):
    """Units side by side; members share them and differ in how much they make of each."""

    weights: Float[Array, "unit number"]
    phases: Float[Array, " unit"]
    waves: Bool[Array, " unit"]
    """Which units are waves; the others pass their sum on."""
    last: Float[Array, "member unit"]

    def __call__(self, numbers: Float[Array, "*many number"]) -> Float[Array, "*many member"]:
        return self.hidden(numbers) @ self.last.T

    def hidden(self, numbers: Float[Array, "*many number"]) -> Float[Array, "*many unit"]:
        """What each unit makes of the numbers."""
        sums = numbers @ self.weights.T + self.phases
        return jnp.where(self.waves, jnp.sin(sums), sums)


def silent_units(width: int, units: int, members: int) -> Units:
    """Units that say nothing."""
    return Units(
        jnp.zeros((units, width)), jnp.zeros(units), jnp.zeros(units, bool), jnp.zeros((members, units))
    )  # fmt: skip
