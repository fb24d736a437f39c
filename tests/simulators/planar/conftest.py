"""A clone whose law is Box2D's, written down: right physics without any training."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from jaxtyping import Array

from gapless.simulators.planar import matter
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.contacts import Contacts
from gapless.simulators.planar.law import Touching
from gapless.simulators.planar.scene import Mass, Scene
from gapless.simulators.planar.teacher import SPIN_ARM


class ExactLaw(eqx.Module):
    """What Box2D does at a touch and under a body."""

    def __call__(self, scene: Scene, contacts: Contacts, approach: Array, mass: Mass) -> Touching:
        friction, bounce = (matter.named(scene.z, name)[contacts.pair] for name in ("friction", "restitution"))
        target = jnp.where(-approach > 1.0, jnp.max(bounce, -1) * -approach, 0.0)
        kg = jnp.where(scene.count > 0, matter.named(scene.z, "mass"), 0.0)
        grip = jax.ops.segment_sum(kg * matter.named(scene.z, "drag") * scene.table, scene.owner, len(mass.kg))
        arm = SPIN_ARM * jnp.sqrt(mass.inertia / jnp.maximum(mass.kg, 1e-6))
        return Touching(jnp.sqrt(friction[:, 0] * friction[:, 1]), target, grip, grip * arm)


def exact(rounds: int = 24, seed: int = 0) -> Clone:
    clone = Clone(jax.random.key(seed), rounds)
    return eqx.tree_at(lambda c: c.law, clone, ExactLaw())


@pytest.fixture(scope="session")
def exact_clone() -> Clone:
    return exact()
