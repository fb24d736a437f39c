"""What a touch does, learned: the cone of friction and the bounce of two embeddings, and a table's hold on one."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .contacts import Contacts
from .matter import WIDTH
from .scene import Mass, Scene

HIDDEN = 32
SLOWEST = 1e-2
"""Speeds of approach below this, in m/s, are all alike to a bounce."""


class Touching(NamedTuple):
    """The law at each contact, and under each body."""

    friction: Float[Array, " contact"]
    """Largest tangential impulse over the normal one."""
    target: Float[Array, " contact"]
    """Speed in m/s at which the bodies part."""
    grip: Float[Array, " body"]
    """Largest force of the table, N."""
    twist: Float[Array, " body"]
    """Largest torque of the table, N m."""


class Law(eqx.Module):
    """Symmetric in the two embeddings."""

    touch: eqx.nn.MLP
    bounce: eqx.nn.MLP
    table: eqx.nn.MLP

    def __init__(self, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 3)
        net = lambda width, out, k: eqx.nn.MLP(width, out, HIDDEN, 2, activation=jax.nn.silu, key=k)  # noqa: E731
        self.touch, self.bounce, self.table = net(4, 1, keys[0]), net(5, 1, keys[1]), net(WIDTH + 1, 2, keys[2])

    def __call__(self, scene: Scene, contacts: Contacts, approach: Float[Array, " contact"], mass: Mass) -> Touching:
        pair = scene.z[contacts.pair][..., 2:4]  # friction and restitution; what else there is acts through mass and outline
        both = jnp.concatenate([pair[:, 0] + pair[:, 1], jnp.abs(pair[:, 0] - pair[:, 1])], -1) / 2
        speed = jnp.log(jnp.maximum(-approach, SLOWEST))
        friction = jnp.exp(jax.vmap(self.touch)(both)[:, 0] - 1.0)
        bounce = jax.nn.sigmoid(jax.vmap(self.bounce)(jnp.concatenate([both, speed[:, None]], -1))[:, 0] - 1.0)
        return Touching(friction, bounce * jnp.maximum(-approach, 0.0), *self._table(scene, mass))

    def _table(self, scene: Scene, mass: Mass) -> tuple[Float[Array, " body"], Float[Array, " body"]]:
        there = jnp.where(scene.count > 0, 1.0, 0.0)
        bodies = scene.free.shape[0]
        # A body of several parts rubs as their mean: what it is made of is weighed below by its mass.
        z = jax.ops.segment_sum(scene.z * there[:, None], scene.owner, bodies)
        z = z / jnp.maximum(jax.ops.segment_sum(there, scene.owner, bodies), 1.0)[:, None]
        radius = jnp.sqrt(mass.inertia / jnp.maximum(mass.kg, 1e-6) + 1e-9)
        seen = jnp.concatenate([z * jnp.array([0, 0, 0, 0, 1.0, 0]), jnp.log(radius)[:, None]], -1)
        share, arm = jnp.exp(jax.vmap(self.table)(seen)).T
        grip = share * mass.kg * scene.table
        return grip, grip * arm * radius
