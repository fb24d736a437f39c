"""Hill climbing by few episodes: one step after the other is tried, and taken where it pays."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import by_world

from .trials import everywhere

Valued = Callable[[Any, int], Float[Array, " world"]]
"""(networks of all worlds, episode): what an episode of each was worth."""


def climbed(networks: Any, steps: Any, valued: Valued) -> Any:
    """Each world's network after trying its steps; trees have a leading world axis, and those of steps a second one."""
    best, value = networks, valued(networks, 0)
    for k in range(jax.tree.leaves(steps)[0].shape[1]):
        tried = jax.tree.map(lambda x, s, k=k: x + s[:, k], best, steps)
        found = valued(tried, k + 1)
        best, value = kept(best, tried, found > value), jnp.maximum(value, found)
    return best


def kept(before: Any, tried: Any, better: Any) -> Any:
    """What was tried in those worlds where it was better."""
    return by_world(better, tried, before)


def uphill(
    noise: Float[Array, "pair weight"], above: Float[Array, " pair"], below: Float[Array, " pair"], deviation: float
) -> Float[Array, " weight"]:
    """The gradient by antithetic evolution strategies: `above` is the worth at +deviation × noise, `below` at −."""
    return (above - below) @ noise / (2 * deviation * len(noise))


def members(centre: Float[Array, " weight"], noise: Float[Array, "pair weight"], deviation: float) -> Any:
    """Both members of every pair, all that go one way first."""
    return everywhere(centre, 2 * len(noise)) + deviation * jnp.concatenate([noise, -noise])
