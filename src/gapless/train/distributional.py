"""Values as distributions over fixed atoms, and how a distribution moves under reward and discount.

Follows Bellemare et al. 2017 (C51). The ends of the atoms are not chosen by hand: they follow from the rewards seen so far,
as no discounted sum of them can lie beyond.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def bounds(
    lowest: Float[Array, ""], highest: Float[Array, ""], discount: float
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Between which all returns lie where every reward lies between these two; an episode may end, so 0 is among them."""
    low, high = jnp.minimum(lowest, 0.0) / (1 - discount), jnp.maximum(highest, 0.0) / (1 - discount)
    return low, jnp.maximum(high, low + 1e-6)


def atoms(low: Float[Array, ""], high: Float[Array, ""], count: int) -> Float[Array, " atom"]:
    """Evenly spread places from the one end to the other."""
    return low + (high - low) * jnp.linspace(0.0, 1.0, count)


def projected(
    probability: Float[Array, "row atom"], places: Float[Array, "row atom"], ends: tuple[Array, Array]
) -> Float[Array, "row atom"]:
    """The distribution on the atoms between `ends` of probabilities that lie at `places`: each is split between the two
    atoms next to it, the nearer one getting more, and what lies beyond an end goes to it."""
    low, high = ends
    count = probability.shape[-1]
    at = (jnp.clip(places, low, high) - low) / (high - low) * (count - 1)
    share = jnp.clip(1 - jnp.abs(at[..., None] - jnp.arange(count)), 0, 1)
    return jnp.einsum("ri,rij->rj", probability, share)


def mean(logits: Float[Array, "*row atom"], at: Float[Array, " atom"]) -> Float[Array, "*row"]:
    """The expected value of each distribution."""
    return jax.nn.softmax(logits) @ at


def cross_entropy(target: Float[Array, "*row atom"], logits: Float[Array, "*row atom"]) -> Float[Array, "*row"]:
    """How badly the logits foresee the target, in nats."""
    return -(target * jax.nn.log_softmax(logits)).sum(-1)
