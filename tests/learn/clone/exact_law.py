"""Box2D's own law of materials inside a clone, for tests that need right physics before anything is trained."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.contacts import Contacts
from gapless.simulators.planar.law import Touching
from gapless.simulators.planar.matter import named
from gapless.simulators.planar.scene import Mass, Scene
from gapless.simulators.planar.teacher import SPIN_ARM


class ExactLaw(eqx.Module):
    def __call__(self, scene: Scene, contacts: Contacts, approach: Array, mass: Mass) -> Touching:
        pair = scene.z[contacts.pair]
        friction = jnp.sqrt(jnp.prod(named(pair, "friction"), -1))
        bounce = jnp.max(named(pair, "restitution"), -1)
        there = jnp.where(scene.count > 0, 1.0, 0.0)
        hold = named(scene.z, "drag") * named(scene.z, "mass") * there * scene.table
        grip = jax.ops.segment_sum(hold, scene.owner, scene.free.shape[0])
        radius = jnp.sqrt(mass.inertia / jnp.maximum(mass.kg, 1e-6) + 1e-9)
        return Touching(friction, jnp.where(approach < -1, -bounce * approach, 0.0), grip, SPIN_ARM * grip * radius)


def exact_clone(rounds: int = 24) -> Clone:
    clone = Clone(jax.random.key(0), rounds)
    return eqx.tree_at(lambda c: c.law, clone, ExactLaw())
