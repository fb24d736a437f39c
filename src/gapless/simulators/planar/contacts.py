"""All contacts of a scene: the nearest pairs of parts, and at each of them up to two points."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .geometry import FAR_M, POINTS, Touch, touch
from .scene import Motion, Scene, outlines

NEAR_M = 0.02
"""Boxes around parts that are farther apart than this never touch within a step's corrections."""


class Contacts(NamedTuple):
    """One row per point; first and second are bodies, the normal points from first to second."""

    pair: Int[Array, "contact 2"]
    """The two parts."""
    body: Int[Array, "contact 2"]
    place: Int[Array, " contact"]
    """Which of the points of its pair: 0 or 1."""
    normal: Float[Array, "contact 2"]
    arm: Float[Array, "contact 2 2"]
    """From the centre of either body to the point."""
    corner: Float[Array, "contact 2"]
    """In the world: what touches the face, and belongs to the body whose face it is not."""
    face: Int[Array, " contact"]
    """Whose the face is: 0 the first's, 1 the second's, 2 neither's."""
    separation: Float[Array, " contact"]
    touching: Bool[Array, " contact"]


PAIRS, CONTACTS = 4, 3
"""Pairs that are looked at and contacts that are solved, for each part: more than touch at once, even in a pile."""


def find(scene: Scene, motion: Motion) -> Contacts:
    """The deepest contacts among the nearest pairs."""
    parts = scene.count.shape[0]
    every = _every(scene, motion, min(max(1, parts * (parts - 1) // 2), PAIRS * parts))
    most = min(CONTACTS * parts, len(every.touching))
    _, chosen = jax.lax.top_k(jnp.where(every.touching, -every.separation, -FAR_M), most)
    return jax.tree.map(lambda x: x[chosen], every)


def _every(scene: Scene, motion: Motion, pairs: int) -> Contacts:
    """The contacts of the `pairs` nearest pairs."""
    shapes = outlines(scene, motion)
    low = jnp.min(shapes.corners, 1) - shapes.radius[:, None]
    high = jnp.max(shapes.corners, 1) + shapes.radius[:, None]
    parts = scene.count.shape[0]
    first, second = np.triu_indices(
        parts, min(1, parts - 1)
    )  # one part alone is held against itself, and never touches
    gap = jnp.max(jnp.maximum(low[first] - high[second], low[second] - high[first]), -1)
    owners, there = scene.owner, scene.count > 0
    free = scene.free[owners]
    possible = (owners[first] != owners[second]) & (free[first] | free[second]) & there[first] & there[second]
    near, chosen = jax.lax.top_k(-jnp.where(possible, gap, FAR_M), pairs)
    a, b = jnp.asarray(first)[chosen], jnp.asarray(second)[chosen]
    found: Touch = jax.vmap(touch)(*(jax.tree.map(lambda x, k=k: x[k], shapes) for k in (a, b)))
    touching = found.touching & (near > -NEAR_M)[:, None]
    rows = pairs * POINTS
    pair = jnp.repeat(jnp.stack([a, b], -1), POINTS, axis=0)
    body = owners[pair]
    point = found.point.reshape(rows, 2)
    return Contacts(
        pair, body, jnp.tile(jnp.arange(POINTS), pairs), found.normal.reshape(rows, 2),
        point[:, None] - motion.position[body], found.corner.reshape(rows, 2), found.face.reshape(rows),
        found.separation.reshape(rows), touching.reshape(rows),
    )  # fmt: skip
