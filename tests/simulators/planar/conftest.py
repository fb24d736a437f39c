"""The law that Box2D has, written down: with it, a clone needs no weights."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.contacts import Contacts
from gapless.simulators.planar.law import Touching
from gapless.simulators.planar.matter import named
from gapless.simulators.planar.scene import Mass, Scene


class Box2DLaw(eqx.Module):
    def __call__(self, scene: Scene, contacts: Contacts, approach: jax.Array, mass: Mass) -> Touching:
        friction, bounce = (named(scene.z, name)[contacts.pair] for name in ("friction", "restitution"))
        held = jnp.where(scene.count > 0, named(scene.z, "mass") * named(scene.z, "drag"), 0.0)
        grip = jax.ops.segment_sum(held, scene.owner, scene.free.shape[0]) * scene.table
        radius = jnp.sqrt(mass.inertia / jnp.maximum(mass.kg, 1e-6))
        target = jnp.where(approach < -1.0, -jnp.max(bounce, 1) * approach, 0.0)
        return Touching(jnp.sqrt(friction[:, 0] * friction[:, 1]), target, grip, 0.943 * grip * radius)


@pytest.fixture
def exact_clone() -> Callable[[int], Clone]:
    """Clones with that law, by their number of rounds."""
    return lambda rounds: eqx.tree_at(lambda c: c.law, Clone(jax.random.key(0), rounds), Box2DLaw())
