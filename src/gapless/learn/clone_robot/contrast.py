"""Telling real windows from simulated ones: a clone's forecast should be taken for the recording and not for the simulation."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def contrast(
    left: Float[Array, "window query"], simulated: Float[Array, "window query"], unit: Float[Array, ""]
) -> Float[Array, " window"]:
    """Cross-entropy of telling, from each forecast, which of two windows it is of: the recorded one, or the simulated one.

    Both begin alike and follow the same commands, and what they leave of the recording is `left` and `simulated`. The nearer of
    the two is the likelier, as under normal errors of variance `unit`. That is a logistic regression along the direction in which
    reality differs from the simulator: what differs within the noise says nothing, and what is told apart already pulls no more.
    """
    to_simulated, to_recorded = ((left - simulated) ** 2).mean(-1), (left**2).mean(-1)
    return jax.nn.softplus((to_recorded - to_simulated) / (2 * unit))


def usual_unit(simulated: Float[Array, "window query"]) -> Float[Array, ""]:
    """The unit in which a typical window is told apart with some doubt."""
    return jnp.maximum(jnp.median((simulated**2).mean(-1)), 1e-6)
