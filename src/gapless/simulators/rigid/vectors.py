"""Vectors and quaternions of many worlds: components lead and worlds trail, so that every operation runs along the worlds."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Vectors = Float[Array, "3 *worlds"]
Quaternions = Float[Array, "4 *worlds"]
Matrix = tuple[tuple[Array, ...], ...]


def dot(a: Vectors, b: Vectors) -> Float[Array, "*worlds"]:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vectors, b: Vectors) -> Vectors:
    return jnp.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def multiply(a: Quaternions, b: Quaternions) -> Quaternions:
    """The rotation that turns by b first, seen from a's frame; w comes first."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return jnp.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def unit(a: Array) -> Array:
    """Vectors or quaternions of length one."""
    return a * jax.lax.rsqrt(sum(x * x for x in a[1:]) + a[0] * a[0])


def matrix(q: Quaternions) -> Matrix:
    """From the body's frame to the world's. Rows are kept apart: stacked, they would be written to memory and read again."""
    w, x, y, z = q
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def to_world(turn: Matrix, a: Vectors) -> Vectors:
    return jnp.stack([row[0] * a[0] + row[1] * a[1] + row[2] * a[2] for row in turn])


def to_body(turn: Matrix, a: Vectors) -> Vectors:
    return jnp.stack([turn[0][k] * a[0] + turn[1][k] * a[1] + turn[2][k] * a[2] for k in range(3)])


def angle(a: Quaternions, b: Quaternions) -> Float[Array, "*worlds"]:
    """The angle in rad between two orientations."""
    same = jnp.abs(jnp.sum(a * b, axis=0))
    # Not the arc cosine, whose slope is infinite where two are alike.
    return 2 * jnp.arctan2(jnp.sqrt(jnp.maximum(1 - same**2, 0.0) + 1e-12), same)


def small_turn(a: Vectors) -> Quaternions:
    """The quaternion of a small rotation vector in rad."""
    return unit(jnp.concatenate([jnp.ones_like(a[:1]), a / 2]))
