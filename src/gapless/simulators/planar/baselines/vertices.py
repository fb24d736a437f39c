"""A plain graph network on vertices: corners are nodes, near corners are edges, and what comes out moves rigid bodies."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..clone import Moving, Push
from ..matter import WIDTH
from ..scene import CORNERS, Motion, Scene, masses, outlines
from .moves import MOVES, moved

HIDDEN, ROUNDS, NEIGHBOURS = 64, 3, 8
AROUND = CORNERS
"""Points on a circle: as many as a polygon may have corners."""
REACH_M = 0.6
"""Corners farther apart do not see each other."""


class VertexGraph(eqx.Module):
    """Messages between near corners of different bodies, and from each body to its own corners."""

    encode: eqx.nn.MLP
    edge: eqx.nn.MLP
    node: eqx.nn.MLP
    decode: eqx.nn.MLP

    def __init__(self, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 4)
        net = lambda width, out, k: eqx.nn.MLP(width, out, HIDDEN, 2, activation=jax.nn.silu, key=k)  # noqa: E731
        self.encode = net(2 + WIDTH + 4, HIDDEN, keys[0])
        self.edge, self.node = net(2 * HIDDEN + 5, HIDDEN, keys[1]), net(3 * HIDDEN, HIDDEN, keys[2])
        self.decode = net(2 * HIDDEN, MOVES, keys[3])

    def step(self, scene: Scene, moving: Moving, push: Push, dt_s: Float[Array, ""] | float) -> Moving:
        """One scene `dt_s` later."""
        motion, mass, bodies = moving.motion, masses(scene), scene.free.shape[0]
        point, body, there = _points(scene, motion)
        arm = point - motion.position[body]
        speed = motion.velocity[body] + motion.spin[body][:, None] * jnp.stack([-arm[:, 1], arm[:, 0]], -1)
        z = jnp.repeat(scene.z, AROUND, axis=0)
        more = jnp.stack([scene.free[body], jnp.full(len(body), scene.table / 10), mass.inverse[body], arm[:, 0]], -1)
        node = jax.vmap(self.encode)(jnp.concatenate([speed, z, more], -1))
        gap = point[None] - point[:, None]
        apart = jnp.sqrt(jnp.sum(gap**2, -1) + 1e-9)
        foreign = (body[None] != body[:, None]) & there[None] & there[:, None] & (apart < REACH_M)
        near, who = jax.lax.top_k(-jnp.where(foreign, apart, 1e3), NEIGHBOURS)
        seen = (near > -REACH_M)[..., None]
        for _ in range(ROUNDS):
            told = self._messages(node, point, speed, who, seen)
            own = jax.ops.segment_sum(jnp.where(there[:, None], node, 0.0), body, bodies) / AROUND
            node = node + jax.vmap(self.node)(jnp.concatenate([node, told, own[body]], -1))
        mine = jax.ops.segment_sum(jnp.where(there[:, None], node, 0.0), body, bodies) / AROUND
        turned = jax.ops.segment_sum(jnp.where(there[:, None], node * arm[:, :1], 0.0), body, bodies)
        return moved(jax.vmap(self.decode)(jnp.concatenate([mine, turned], -1)), scene, moving, push, dt_s)

    def _messages(
        self, node: Array, point: Array, speed: Array, who: Array, seen: Array
    ) -> Float[Array, "point hidden"]:
        gap, slip = point[who] - point[:, None], speed[who] - speed[:, None]
        length = jnp.sqrt(jnp.sum(gap**2, -1, keepdims=True) + 1e-9)
        pair = jnp.concatenate(
            [jnp.broadcast_to(node[:, None], (*who.shape, HIDDEN)), node[who], gap, slip, length], -1
        )
        return jnp.sum(jnp.where(seen, jax.vmap(jax.vmap(self.edge))(pair), 0.0), 1)


def _points(scene: Scene, motion: Motion) -> tuple[Array, Array, Array]:
    """Corners in the world (points around a circle), their bodies, and whether they are there."""
    shapes = outlines(scene, motion)
    angle = jnp.arange(AROUND) * 2 * jnp.pi / AROUND
    rim = jnp.stack([jnp.cos(angle), jnp.sin(angle)], -1)
    ring = shapes.corners[:, :1] + shapes.radius[:, None, None] * rim
    point = jnp.where(shapes.round[:, None, None], ring, shapes.corners)
    there = (shapes.real | shapes.round[:, None]) & (scene.count > 0)[:, None]
    return point.reshape(-1, 2), jnp.repeat(scene.owner, AROUND), there.reshape(-1)
