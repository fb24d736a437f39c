"""Which parts touch, where and how deep: convex corners with a rounded skin, by the rules of Box2D, for one pair at a time."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

SLOP_M = 0.005
SKIN_M = 2 * SLOP_M
"""Radius around the corners of a polygon; a circle is one corner whose radius is its own."""
PREFERS_FIRST_M = 0.1 * SLOP_M
"""The second polygon gives the face of reference only if it is farther off by this much, so that the choice does not flicker."""
POINTS = 2
"""Points at which two convex parts can touch."""


class Outline(NamedTuple):
    """One part in the world."""

    corners: Float[Array, "corner 2"]
    """Counter-clockwise; beyond the last, the first again."""
    normals: Float[Array, "corner 2"]
    """Of the edge from each corner to the next."""
    real: Bool[Array, " corner"]
    radius: Float[Array, ""]
    round: Bool[Array, ""]
    """Whether it is a circle: one corner."""


class Touch(NamedTuple):
    """How two parts meet; the normal points from the first to the second."""

    normal: Float[Array, "point 2"]
    point: Float[Array, "point 2"]
    """Halfway between the two surfaces."""
    corner: Float[Array, "point 2"]
    """What touches the face: a corner of one part, or the middle of a circle."""
    face: Int[Array, " point"]
    """Whose the face is, and with it the normal: 0 the first part's, 1 the second's, 2 neither's."""
    separation: Float[Array, " point"]
    """Negative where they overlap."""
    touching: Bool[Array, " point"]


FAR_M = 1e6
"""Where what is not there is put; finite, so that nothing computed from it is not a number."""


def touch(first: Outline, second: Outline) -> Touch:
    """The points where two parts touch, in the world."""
    flat = _faces(first, second)
    mixed = _face_and_circle(first, second)
    mirrored = _flipped(_face_and_circle(second, first))
    circles = _circles(first, second)
    found = _choose(second.round, _choose(first.round, circles, mixed), _choose(first.round, mirrored, flat))
    radius = first.radius + second.radius
    return found._replace(touching=found.touching & (found.separation <= 0) & (radius > 0))


def _choose(which: Bool[Array, ""], yes: Touch, no: Touch) -> Touch:
    return jax.tree.map(lambda a, b: jnp.where(which, a, b), yes, no)


def _flipped(found: Touch) -> Touch:
    return found._replace(normal=-found.normal, face=1 - found.face)


def _single(normal: Array, point: Array, corner: Array, face: int, separation: Array) -> Touch:
    """One point, in the first place."""
    normal, point, corner = (jnp.broadcast_to(v, (POINTS, 2)) for v in (normal, point, corner))
    apart, first = jnp.broadcast_to(separation, (POINTS,)), jnp.arange(POINTS) == 0
    return Touch(normal, point, corner, jnp.full(POINTS, face), apart, first)


def _circles(first: Outline, second: Outline) -> Touch:
    a, b = first.corners[0], second.corners[0]
    normal, distance = _direction(b - a)
    middle = (a + first.radius * normal + b - second.radius * normal) / 2
    return _single(normal, middle, b, 2, distance - first.radius - second.radius)


def _face_and_circle(polygon: Outline, circle: Outline) -> Touch:
    """The nearest point of a polygon to the middle of a circle: on a face, or a corner."""
    centre = circle.corners[0]
    heights = jnp.where(polygon.real, jnp.sum(polygon.normals * (centre - polygon.corners), -1), -FAR_M)
    face = jnp.argmax(heights)
    after = _next(polygon, face)
    start, end = polygon.corners[face], polygon.corners[after]
    before_start = jnp.sum((centre - start) * (end - start)) <= 0
    beyond_end = jnp.sum((centre - end) * (start - end)) <= 0
    outside = heights[face] > 0
    corner = jnp.where(before_start, start, end)
    to_corner, distance = _direction(centre - corner)
    at_corner = outside & (before_start | beyond_end)
    normal = jnp.where(at_corner, to_corner, polygon.normals[face])
    height = jnp.where(at_corner, distance, heights[face])
    near = centre - height * normal
    middle = (near + polygon.radius * normal + centre - circle.radius * normal) / 2
    return _single(normal, middle, centre, 0, height - polygon.radius - circle.radius)


def _faces(first: Outline, second: Outline) -> Touch:
    """A face of one polygon, and the edge of the other that lies against it, clipped to the face."""
    high_a, face_a = _farthest_face(first, second)
    high_b, face_b = _farthest_face(second, first)
    flip = high_b > high_a + PREFERS_FIRST_M
    reference, other = _swap(flip, first, second)
    face = jnp.where(flip, face_b, face_a)
    normal = reference.normals[face]
    start, end = reference.corners[face], reference.corners[_next(reference, face)]
    along, _ = _direction(end - start)
    facing = jnp.argmin(jnp.where(other.real, other.normals @ normal, FAR_M))
    edge = jnp.stack([other.corners[facing], other.corners[_next(other, facing)]])
    radius = first.radius + second.radius
    edge, some = _clipped(edge, -along, radius - jnp.sum(along * start))
    edge, more = _clipped(edge, along, radius + jnp.sum(along * end))
    height = (edge - start) @ normal
    middle = edge + 0.5 * (reference.radius - other.radius - height)[:, None] * normal
    outward = jnp.where(flip, -normal, normal)
    # In the order along the face, so that a point keeps its place from one step to the next.
    order = jnp.argsort(edge @ jnp.array([-outward[1], outward[0]]))
    return Touch(
        jnp.broadcast_to(outward, (POINTS, 2)), middle[order], edge[order], jnp.full(POINTS, flip.astype(int)),
        height[order] - radius, jnp.broadcast_to(some & more, (POINTS,)),
    )  # fmt: skip


def _farthest_face(of: Outline, against: Outline) -> tuple[Float[Array, ""], Int[Array, ""]]:
    """The face that keeps the other polygon farthest off, and how far."""
    heights = jnp.sum(of.normals[:, None] * (against.corners[None] - of.corners[:, None]), -1)
    lowest = jnp.min(jnp.where(against.real, heights, FAR_M), axis=1)
    lowest = jnp.where(of.real, lowest, -FAR_M)
    face = jnp.argmax(lowest)
    return lowest[face], face


def _clipped(edge: Float[Array, "2 2"], normal: Array, offset: Array) -> tuple[Float[Array, "2 2"], Bool[Array, ""]]:
    """What of an edge lies where normal · x ≤ offset, and whether anything does."""
    beyond = edge @ normal - offset
    share = beyond[0] / _not_zero(beyond[0] - beyond[1])
    crossing = edge[0] + share * (edge[1] - edge[0])
    return jnp.where((beyond > 0)[:, None], crossing, edge), jnp.any(beyond <= 0)


def _swap(flip: Bool[Array, ""], first: Outline, second: Outline) -> tuple[Outline, Outline]:
    pick = lambda a, b: jnp.where(flip, b, a)  # noqa: E731
    return jax.tree.map(pick, first, second), jax.tree.map(pick, second, first)


def turned(vector: Float[Array, "*n 2"], angle: Float[Array, "*n"]) -> Float[Array, "*n 2"]:
    """Vectors turned to the left by so many radians."""
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([vector[..., 0] * cos - vector[..., 1] * sin, vector[..., 0] * sin + vector[..., 1] * cos], -1)


def _next(of: Outline, corner: Int[Array, ""]) -> Int[Array, ""]:
    after = corner + 1
    return jnp.where(after < jnp.sum(of.real), after, 0)


def _direction(vector: Float[Array, "2"]) -> tuple[Float[Array, "2"], Float[Array, ""]]:
    length = jnp.sqrt(jnp.sum(vector**2) + 1e-12)
    return vector / length, length


def _not_zero(value: Array) -> Array:
    return jnp.where(jnp.abs(value) < 1e-12, 1e-12, value)
