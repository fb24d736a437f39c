"""Where clones may be trusted: by how much independent members differ about single periods, beside how wrong they are."""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .clone import Clone
from .skeleton import Skeleton


class Periods(NamedTuple):
    """Single periods of a robot: where each began, what it was commanded, which robot it was, and how fast it was afterwards."""

    position: Float[np.ndarray, "period joint"]
    velocity: Float[np.ndarray, "period joint"]
    control: Float[np.ndarray, "period both"]
    """Moments of the delayed commands."""
    shares: Float[np.ndarray, "period param"]
    """Parameters, from −1 to 1 over their range."""
    after: Float[np.ndarray, "period joint"]
    """The velocity at the end."""


class Doubt(NamedTuple):
    """Both in typical changes of speed over a period, of the joint that is worst."""

    disagreement: Float[np.ndarray, " period"]
    error: Float[np.ndarray, " period"]
    """Mean over members."""


def doubt(members: Sequence[Clone], skeleton: Skeleton, periods: Periods) -> Doubt:
    """How much members differ about each period, and how wrong they are about it."""
    ensemble = jax.tree.map(lambda *w: jnp.stack(w), *members)
    return Doubt(*(np.asarray(side) for side in _doubt(ensemble, skeleton, periods)))


def disagreement(
    velocities: Float[Array, "member world joint"], change: Float[Array, " joint"]
) -> Float[Array, "world 1"]:
    """The deviation between members, in typical changes of speed, of the joint about which they differ most."""
    return (velocities.std(0) / change).max(-1, keepdims=True)


@eqx.filter_jit
def _doubt(ensemble: Clone, skeleton: Skeleton, periods: Periods) -> tuple[Array, Array]:
    def after(clone: Clone) -> Float[Array, "period joint"]:
        now = jnp.asarray(periods.position), jnp.asarray(periods.velocity)
        return clone.advance(skeleton, clone.modulation(periods.shares), now, periods.control)[1]

    velocities, change = jax.vmap(after)(ensemble), ensemble.limb.change[0]
    off = (jnp.abs(velocities - periods.after) / change).max(-1).mean(0)
    return disagreement(velocities, change)[:, 0], off
