"""After bodies have moved, those that overlap are moved apart a little, without any speed: how much is learned."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .contacts import Contacts
from .geometry import SLOP_M, turned
from .rounds import Edges, levers

HIDDEN = 16
ROUNDS = 3
DEEPEST = 12.0
"""Overlaps, in units of what is left alone, beyond which all are alike to the network."""
FIRST = 0.2


class Settling(eqx.Module):
    """Shares of the overlap that each of three rounds takes away."""

    share: eqx.nn.MLP

    def __init__(self, key: PRNGKeyArray) -> None:
        net = eqx.nn.MLP(5, 1, HIDDEN, 2, activation=jax.nn.silu, key=key)
        net = eqx.tree_at(lambda n: n.layers[-1].weight, net, replace_fn=lambda w: 0.01 * w)
        first = jnp.log(FIRST / (1 - FIRST)) * jnp.ones(1)
        self.share = eqx.tree_at(lambda n: n.layers[-1].bias, net, first)

    def __call__(
        self, contacts: Contacts, edges: Edges, before: Float[Array, "body 3"], place: Float[Array, "body 3"]
    ) -> Float[Array, "body 3"]:
        """Places (position and angle) that overlap less; `before` is where contacts were found."""

        def body(place: Float[Array, "body 3"], which: Array) -> tuple[Float[Array, "body 3"], None]:
            separation, lever = _now(contacts, before, place)
            over = jnp.where(contacts.touching, jnp.maximum(-separation / SLOP_M - 1.0, 0.0), 0.0)
            worst = jnp.max(edges.at * over[:, None, None], (0, 1))[contacts.body]
            seen = jnp.stack([over, worst[:, 0], worst[:, 1], edges.crowd[:, 0], jnp.full_like(over, which)], -1)
            share = jax.nn.sigmoid(jax.vmap(self.share)(jnp.minimum(seen, DEEPEST) / 4)[:, 0])
            gives = jnp.maximum(jnp.sum(lever**2 * edges.inverse, (1, 2)), 1e-9)
            push = share * over * SLOP_M / gives / jnp.maximum(edges.crowd[:, 0] / 2, 1.0)
            return place + jnp.einsum("csb,csk->bk", edges.at, lever * push[:, None, None] * edges.inverse), None

        return jax.lax.scan(body, place, jnp.arange(ROUNDS, dtype=jnp.float32))[0]


def _now(
    contacts: Contacts, before: Float[Array, "body 3"], place: Float[Array, "body 3"]
) -> tuple[Float[Array, " contact"], Float[Array, "contact 2 3"]]:
    """Separations after bodies moved: the face has turned with its body, the corner has moved with the other."""
    second = contacts.face == 1
    owner = jnp.where(second, contacts.body[:, 1], contacts.body[:, 0])
    other = jnp.where(second, contacts.body[:, 0], contacts.body[:, 1])
    spun = place[:, 2] - before[:, 2]
    normal = turned(contacts.normal, jnp.where(contacts.face < 2, spun[owner], 0.0))
    corner = turned(contacts.corner - before[other, :2], spun[other]) + place[other, :2]
    ground = turned(contacts.corner - before[owner, :2], spun[owner]) + place[owner, :2]
    sign = jnp.where(second, -1.0, 1.0)
    separation = sign * jnp.sum(normal * (corner - ground), -1) + contacts.separation
    return separation, levers(normal, corner[:, None] - place[contacts.body, :2])
