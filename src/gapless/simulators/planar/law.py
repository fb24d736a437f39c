"""What a touch does, learned: the cone of friction and the bounce of two embeddings, and a table's hold on one."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .contacts import Contacts
from .matter import NAMED
from .scene import Mass, Scene, gyration

HIDDEN = 32
CALM = -6.0
"""Logarithm of the scatter before any is learned."""
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


class Bent(eqx.Module):
    """A linear map, and a network for where it bends."""

    straight: eqx.nn.Linear
    bend: eqx.nn.MLP

    def __init__(self, width: int, out: int, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key)
        self.straight = eqx.nn.Linear(width, out, key=keys[0])
        net = eqx.nn.MLP(width, out, HIDDEN, 2, activation=jax.nn.silu, key=keys[1])
        self.bend = eqx.tree_at(lambda n: n.layers[-1].weight, net, replace_fn=lambda w: 0.1 * w)

    def __call__(self, x: Float[Array, " width"]) -> Float[Array, " out"]:
        return self.straight(x) + self.bend(x)


class Law(eqx.Module):
    """Symmetric in the two embeddings."""

    touch: Bent
    bounce: Bent
    slow: Float[Array, "2"]
    """The speed of approach from which on bodies bounce, as a logarithm, and how sharply they begin to."""
    table: Bent
    scatter: Float[Array, "2"]
    """Logarithms of how much the logarithm of friction, and the logit of the bounce, differ from touch to touch."""

    def __init__(self, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 3)
        self.touch, self.bounce, self.table = Bent(4, 1, keys[0]), Bent(5, 1, keys[1]), Bent(2, 2, keys[2])
        self.slow, self.scatter = jnp.array([-0.5, 4.0]), jnp.array([CALM, CALM])

    def __call__(
        self, scene: Scene, contacts: Contacts, approach: Float[Array, " contact"], mass: Mass, key: PRNGKeyArray | None = None
    ) -> Touching:  # fmt: skip
        """With a key, touches differ from time to time as much as those that were learned from."""
        pair = jnp.stack([scene.z[contacts.pair][..., NAMED.index(name)] for name in ("friction", "restitution")], -1)
        both = jnp.concatenate([pair[:, 0] + pair[:, 1], jnp.abs(pair[:, 0] - pair[:, 1])], -1) / 2
        speed = jnp.log(jnp.maximum(-approach, SLOWEST))
        chance = jnp.zeros((2, len(speed))) if key is None else jax.random.normal(key, (2, len(speed)))
        chance = jnp.exp(self.scatter)[:, None] * chance
        friction = jnp.exp(jax.vmap(self.touch)(both)[:, 0] + chance[0])
        bounce = jax.vmap(self.bounce)(jnp.concatenate([both, speed[:, None]], -1))[:, 0] + chance[1]
        bounce = jax.nn.sigmoid(bounce)
        bounce = bounce * jax.nn.sigmoid(jax.nn.softplus(self.slow[1]) * (speed - self.slow[0]))
        return Touching(friction, bounce * jnp.maximum(-approach, 0.0), *self._table(scene, mass))

    def _table(self, scene: Scene, mass: Mass) -> tuple[Float[Array, " body"], Float[Array, " body"]]:
        there = jnp.where(scene.count > 0, 1.0, 0.0)
        bodies = scene.free.shape[0]
        # A body of several parts rubs as their mean: what it is made of is weighed below by its mass.
        drag = jax.ops.segment_sum(scene.z[:, NAMED.index("drag")] * there, scene.owner, bodies)
        drag = drag / jnp.maximum(jax.ops.segment_sum(there, scene.owner, bodies), 1.0)
        radius = gyration(mass)
        seen = jnp.stack([drag, jnp.log(radius)], -1)
        share, arm = jnp.exp(jax.vmap(self.table)(seen)).T
        grip = share * mass.kg * scene.table
        return grip, grip * arm * radius
