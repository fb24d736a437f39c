"""From what a network says about each body to where it is next; gravity and pushes are given."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..clone import Moving, Push, pushed
from ..scene import Motion, Scene, masses

MOVES = 6
"""Changes of velocity and spin, and of place and angle beyond what velocity does."""
PLACE = 0.05
"""Places change less than speeds."""


def moved(
    says: Float[Array, "body 6"], scene: Scene, moving: Moving, push: Push, dt_s: Float[Array, ""] | float
) -> Moving:
    """The state after one step; bodies that are not free do as they are told."""
    motion, mass = moving.motion, masses(scene)
    says = jnp.where((scene.free & (mass.kg > 0))[:, None], says, 0.0)
    velocity = pushed(scene, mass, motion, push, dt_s) + says[:, :3]
    place = jnp.concatenate([motion.position, motion.angle[:, None]], -1) + dt_s * velocity + PLACE * says[:, 3:]
    return Moving(Motion(place[:, :2], place[:, 2], velocity[:, :2], velocity[:, 2]), moving.held)


def in_turn(modules: Any, apply: Callable[[Any, Array], Array], first: Array) -> Array:
    """What modules of one kind, stacked, make of it one after the other; compiled once for all of them."""
    arrays, static = eqx.partition(modules, eqx.is_array)
    return jax.lax.scan(lambda now, own: (apply(eqx.combine(own, static), now), None), first, arrays)[0]
