"""Vectors and rotations whose constant numbers stay plain: zeros and ones of a model cost nothing once compiled."""

from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp

Scalar = Any
"""A plain float, or an array over worlds."""
Vector = tuple[Scalar, Scalar, Scalar]
Matrix = tuple[Vector, Vector, Vector]
UNTURNED: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
TINY = 1e-12


def fixed(x: Scalar) -> bool:
    """Whether it is the same in every world."""
    return isinstance(x, float)


def plain(values: Iterable[float]) -> Vector:
    """Numbers of a model, with what rounding left of zeros taken away."""
    a, b, c = (0.0 if abs(v) < TINY else float(v) for v in values)
    return a, b, c


def times(a: Scalar, b: Scalar) -> Scalar:
    if fixed(a) and fixed(b):
        return a * b
    if fixed(b):
        a, b = b, a
    if fixed(a) and a in (0.0, 1.0):
        return b if a else 0.0
    return a * b


def plus(a: Scalar, b: Scalar) -> Scalar:
    if fixed(a) and a == 0.0:
        return b
    return a if fixed(b) and b == 0.0 else a + b


def dot(a: Vector, b: Vector) -> Scalar:
    return plus(plus(times(a[0], b[0]), times(a[1], b[1])), times(a[2], b[2]))


def add(a: Vector, b: Vector) -> Vector:
    return plus(a[0], b[0]), plus(a[1], b[1]), plus(a[2], b[2])


def stretch(a: Vector, by: Scalar) -> Vector:
    return times(a[0], by), times(a[1], by), times(a[2], by)


def less(a: Vector, b: Vector) -> Vector:
    return add(a, stretch(b, -1.0))


def turn(m: Matrix, v: Vector) -> Vector:
    """m v."""
    return dot(m[0], v), dot(m[1], v), dot(m[2], v)


def compose(a: Matrix, b: Matrix) -> Matrix:
    """a b."""
    x, y, z = zip(*b, strict=True)

    def times_b(row: Vector) -> Vector:
        return dot(row, x), dot(row, y), dot(row, z)

    return times_b(a[0]), times_b(a[1]), times_b(a[2])


def about(axis: Vector, angle: Scalar) -> Matrix:
    """The rotation about a unit axis of the model, by Rodrigues' formula."""
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    x, y, z = axis
    across: Matrix = ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))
    rows = []
    for i in range(3):
        along = [axis[i] * axis[j] for j in range(3)]
        row = [
            plus(plus(times(cosine, float(i == j) - along[j]), times(sine, plain((across[i][j],) * 3)[0])), along[j])
            for j in range(3)
        ]
        rows.append(tuple(row))
    return rows[0], rows[1], rows[2]


def length(a: Vector) -> Scalar:
    """Never quite zero, so that directions and gradients exist."""
    return jnp.sqrt(dot(a, a) + TINY)
