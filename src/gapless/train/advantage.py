"""Generalised advantage estimation, with running out of time told apart from a real end."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


def advantages(
    reward: Float[Array, "step world"],
    value: Float[Array, "step world"],
    next_value: Float[Array, "step world"],
    finished: Bool[Array, "step world"],
    cut: Bool[Array, "step world"],
    discount: float,
    trace: float,
) -> Float[Array, "step world"]:
    """How much better each action was than expected. `cut` marks where an episode stops for any reason; only where it
    is also `finished` has the future no value."""
    surprise = reward + discount * next_value * (1 - finished) - value

    def back(later: Float[Array, " world"], now: tuple) -> tuple:
        delta, stops = now
        total = delta + discount * trace * (1 - stops) * later
        return total, total

    _, found = jax.lax.scan(back, jnp.zeros_like(value[0]), (surprise, cut.astype(value.dtype)), reverse=True)
    return found
