"""Bodies on a plane: parts are convex shapes with matter in them, a body is all the parts that move as one."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int

from .geometry import SKIN_M, Outline
from .matter import named

Array = Any
"""Of NumPy outside compiled programs, and of JAX inside."""
CORNERS = 8
"""Corners that a polygon has at most, as in Box2D."""


class Scene(NamedTuple):
    """What stays as it is while bodies move. Padding has no owner (-1) and no radius."""

    corners: Float[Array, "part corner 2"]
    """In the frame of the owner, whose origin is its centre of mass; counter-clockwise."""
    count: Int[Array, " part"]
    """Corners; 1 is a circle, 0 padding."""
    radius: Float[Array, " part"]
    """Of circles; polygons have their skin."""
    owner: Int[Array, " part"]
    """The body that a part belongs to."""
    z: Float[Array, "part embedding"]
    """What a part is made of; see matter.py."""
    free: Bool[Array, " body"]
    """Whether a body moves as it is pushed; walls and commanded bodies do not."""
    gravity: Float[Array, "2"]
    """In m/s²; zero on a table seen from above."""
    table: Float[Array, ""]
    """How hard a table is pressed from below, m/s²: 9.81 on a table seen from above, 0 elsewhere."""


class Motion(NamedTuple):
    """Where all bodies are and how they move."""

    position: Float[Array, "body 2"]
    angle: Float[Array, " body"]
    velocity: Float[Array, "body 2"]
    spin: Float[Array, " body"]


def motion_of(rows: Float[Array, "body 6"]) -> Motion:
    """Each row is place, angle, velocity and spin of a body."""
    return Motion(rows[:, :2], rows[:, 2], rows[:, 3:5], rows[:, 5])


class Mass(NamedTuple):
    """How bodies resist; inverses are zero for those that nothing moves."""

    kg: Float[Array, " body"]
    inertia: Float[Array, " body"]
    inverse: Float[Array, " body"]
    inverse_inertia: Float[Array, " body"]


def masses(scene: Scene) -> Mass:
    """Mass and inertia of each body from its parts."""
    there = scene.count > 0
    kg = jnp.where(there, named(scene.z, "mass"), 0.0)
    area_inertia, middle = jax.vmap(shape_inertia)(*sized(scene))
    own = kg * area_inertia * named(scene.z, "inertia") + kg * jnp.sum(middle**2, -1)
    bodies = scene.free.shape[0]
    total = jax.ops.segment_sum(kg, scene.owner, bodies)
    inertia = jax.ops.segment_sum(own, scene.owner, bodies)
    return Mass(
        total, inertia, *(jnp.where(scene.free & (x > 0), 1 / jnp.where(x > 0, x, 1.0), 0.0) for x in (total, inertia))
    )


def gyration(mass: Mass) -> Float[Array, " body"]:
    """Radius at which all of a body's mass would have its inertia, in m; nearly zero where nothing is."""
    return jnp.sqrt(mass.inertia / jnp.maximum(mass.kg, 1e-6) + 1e-9)


def sized(scene: Scene) -> tuple[Float[Array, "part corner 2"], Int[Array, " part"], Float[Array, " part"]]:
    """Corners, their number and radii as large as the embeddings say."""
    scale = named(scene.z, "size")
    return scene.corners * scale[:, None, None], scene.count, scene.radius * scale


def outlines(scene: Scene, motion: Motion) -> Outline:
    """All parts in the world."""
    angle = motion.angle[scene.owner]
    turn = jnp.stack(
        [jnp.stack([jnp.cos(angle), -jnp.sin(angle)], -1), jnp.stack([jnp.sin(angle), jnp.cos(angle)], -1)], -2
    )
    own, _, circle_m = sized(scene)
    corners = jnp.einsum("pij,pcj->pci", turn, own) + motion.position[scene.owner][:, None]
    real = jnp.arange(scene.corners.shape[1]) < scene.count[:, None]
    corners = jnp.where(real[..., None], corners, corners[:, :1])
    following = jnp.where(
        jnp.arange(scene.corners.shape[1])[None, :, None] + 1 < scene.count[:, None, None],
        jnp.roll(corners, -1, axis=1), corners[:, :1],
    )  # fmt: skip
    edge = following - corners
    outward = jnp.stack([edge[..., 1], -edge[..., 0]], -1)
    normals = outward / jnp.sqrt(jnp.sum(outward**2, -1, keepdims=True) + 1e-12)
    round_ = scene.count == 1
    radius = jnp.where(round_, circle_m, jnp.where(scene.count > 1, SKIN_M, 0.0))
    return Outline(corners, normals, real, radius, round_)


def shape_inertia(corners: Array, count: Array, radius: Array) -> tuple[Array, Array]:
    """Inertia of uniform matter about its own centre, per kg in m², and that centre."""
    real = jnp.arange(corners.shape[0]) < count
    corner = jnp.where(real[:, None], corners, corners[:1])
    after = jnp.where((jnp.arange(corners.shape[0]) + 1 < count)[:, None], jnp.roll(corner, -1, axis=0), corner[:1])
    cross = corner[:, 0] * after[:, 1] - corner[:, 1] * after[:, 0]
    area = jnp.sum(cross) / 2
    safe = jnp.where(area > 1e-9, area, 1.0)
    middle = jnp.sum(cross[:, None] * (corner + after), 0) / (6 * safe)
    square = jnp.sum(cross * jnp.sum(corner**2 + corner * after + after**2, -1)) / (12 * safe)
    polygon = square - jnp.sum(middle**2)
    is_circle = count == 1
    return jnp.where(is_circle, radius**2 / 2, polygon), jnp.where(is_circle, corners[0], middle)
