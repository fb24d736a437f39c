"""A plain graph network on vertices: corners are nodes, what is near one is an edge, and what comes out moves rigid bodies."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ..clone import Moving, Push, pushed
from ..matter import WIDTH
from ..scene import CORNERS, Motion, Scene, masses, outlines
from .moves import MOVES, in_turn, moved

HIDDEN, ROUNDS, NEIGHBOURS = 96, 4, 8
AROUND = CORNERS
"""Points on a circle: as many as a polygon may have corners."""
REACH_M = 0.6
"""Sides farther from a corner are not seen by it."""
NODE, EDGE = 2 + WIDTH + 7, 9
"""What is known of a corner, and of a corner and the nearest point of another's side."""


class Near(NamedTuple):
    """The sides of other bodies that are nearest to each corner."""

    who: Int[Array, "point neighbour"]
    """The corner at which the side begins."""
    seen: Bool[Array, "point neighbour 1"]
    known: Float[Array, "point neighbour feature"]


class Round(eqx.Module):
    """Edges tell both of their corners, and corners think about it."""

    edge: eqx.nn.MLP
    node: eqx.nn.MLP

    def __init__(self, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key)
        self.edge = _network(2 * HIDDEN + EDGE, 2 * HIDDEN, keys[0])
        self.node = _network(4 * HIDDEN, HIDDEN, keys[1])

    def __call__(self, node: Float[Array, "point hidden"], near: Near, own: Float[Array, "point hidden"]) -> Array:
        pair = jnp.broadcast_to(node[:, None], (*near.who.shape, HIDDEN)), node[near.who], near.known
        told = jnp.where(near.seen, jax.vmap(jax.vmap(self.edge))(jnp.concatenate(pair, -1)), 0.0)
        here, there = jnp.sum(told[..., :HIDDEN], 1), jnp.zeros_like(node).at[near.who].add(told[..., HIDDEN:])
        return node + jax.vmap(self.node)(jnp.concatenate([node, here, there, own], -1))


class VertexGraph(eqx.Module):
    """Messages between corners and the sides near them, and from each body to its own corners."""

    encode: eqx.nn.MLP
    rounds: Round
    """All of them as one, whose arrays lead with the round."""
    decode: eqx.nn.MLP

    def __init__(self, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, ROUNDS + 2)
        self.encode = _network(NODE, HIDDEN, keys[0])
        self.rounds = eqx.filter_vmap(Round)(keys[1:-1])
        self.decode = _network(HIDDEN, MOVES, keys[-1])

    def step(self, scene: Scene, moving: Moving, push: Push, dt_s: Float[Array, ""] | float) -> Moving:
        """One scene `dt_s` later."""
        motion, mass, bodies = moving.motion, masses(scene), scene.free.shape[0]
        heading = pushed(scene, mass, motion, push, dt_s)
        point, side, body, there = _points(scene, motion)
        arm = point - motion.position[body]
        plain = jnp.stack(
            [scene.free[body], jnp.full(len(body), scene.table / 10), mass.inverse[body], mass.inverse_inertia[body],
             *arm.T, jnp.full(len(body), 30 * dt_s)], -1,
        )  # fmt: skip
        known = [_speed(heading, arm, body), jnp.repeat(scene.z, AROUND, axis=0), plain]
        node = jax.vmap(self.encode)(jnp.concatenate(known, -1))
        near = _near(motion, heading, (point, side, body, there))
        node = in_turn(
            self.rounds, lambda each, node: each(node, near, _gathered(node, body, there, bodies)[body]), node
        )
        return moved(_gathered(jax.vmap(self.decode)(node), body, there, bodies), scene, moving, push, dt_s)


def _network(width: int, out: int, key: PRNGKeyArray) -> eqx.nn.MLP:
    return eqx.nn.MLP(width, out, HIDDEN, 2, activation=jax.nn.silu, key=key)


def _gathered(said: Float[Array, "point said"], body: Array, there: Array, bodies: int) -> Float[Array, "body said"]:
    """What all corners of a body say together."""
    return jax.ops.segment_sum(jnp.where(there[:, None], said, 0.0), body, bodies) / AROUND


def _speed(
    heading: Float[Array, "body 3"], arm: Float[Array, "*at 2"], body: Int[Array, "*at"]
) -> Float[Array, "*at 2"]:
    """Velocity of a point of a body."""
    return heading[body][..., :2] + heading[body][..., 2:] * jnp.stack([-arm[..., 1], arm[..., 0]], -1)


def _near(motion: Motion, heading: Float[Array, "body 3"], points: tuple[Array, Array, Array, Array]) -> Near:
    """Where the sides of others come nearest to each corner."""
    point, side, body, there = points
    length = jnp.maximum(jnp.sum(side**2, -1), 1e-9)
    along = jnp.einsum("ijk,jk->ij", point[:, None] - point[None], side) / length
    nearest = point[None] + jnp.clip(along, 0.0, 1.0)[..., None] * side[None]
    apart = jnp.sqrt(jnp.sum((nearest - point[:, None]) ** 2, -1) + 1e-9)
    foreign = (body[None] != body[:, None]) & there[None] & there[:, None] & (apart < REACH_M)
    _, who = jax.lax.top_k(-jnp.where(foreign, apart, 1e3), NEIGHBOURS)
    row = jnp.arange(len(point))[:, None]
    at, its = nearest[row, who], body[who]
    mine, theirs = at - motion.position[body][:, None], at - motion.position[its]
    slip = _speed(heading, theirs, its) - _speed(heading, mine, jnp.broadcast_to(body[:, None], who.shape))
    known = jnp.concatenate([at - point[:, None], slip, mine, theirs, apart[row, who][..., None]], -1)
    return Near(who, foreign[row, who][..., None], known)


def _points(scene: Scene, motion: Motion) -> tuple[Array, Array, Array, Array]:
    """Corners in the world (points around a circle), the sides to the next, their bodies, and whether they are there."""
    shapes = outlines(scene, motion)
    angle = jnp.arange(AROUND) * 2 * jnp.pi / AROUND
    rim = jnp.stack([jnp.cos(angle), jnp.sin(angle)], -1)
    ring = shapes.corners[:, :1] + shapes.radius[:, None, None] * rim
    point = jnp.where(shapes.round[:, None, None], ring, shapes.corners)
    there = (shapes.real | shapes.round[:, None]) & (scene.count > 0)[:, None]
    last = jnp.where(shapes.round, AROUND, scene.count)[:, None] - 1 == jnp.arange(AROUND)
    following = jnp.where(last[..., None], point[:, :1], jnp.roll(point, -1, axis=1))
    return point.reshape(-1, 2), (following - point).reshape(-1, 2), jnp.repeat(scene.owner, AROUND), there.reshape(-1)
