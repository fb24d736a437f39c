"""Vectors and matrices of single numbers, each a float that is known now or an array over worlds.

What is zero or one already when a program is traced costs nothing in it: a planar mechanism compiles to planar equations.
"""

import math
from typing import Any

import jax.numpy as jnp

Scalar = Any
"""A float, or an array with one number for each world."""
Vector = tuple[Scalar, Scalar, Scalar]
Matrix = tuple[Vector, Vector, Vector]
"""By rows."""
NOTHING: Vector = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
TINY = 1e-14
"""Known numbers smaller than this are a quaternion's rounding, and zero."""


def known(value: float) -> float:
    """A number of the model, exact where it is zero or one but for rounding."""
    near = float(round(value))
    return near if abs(value - near) < TINY else float(value)


def plus(a: Scalar, b: Scalar) -> Scalar:
    if _is(a, 0.0):
        return b
    return a if _is(b, 0.0) else a + b


def minus(a: Scalar, b: Scalar) -> Scalar:
    if _is(b, 0.0):
        return a
    return -b if _is(a, 0.0) else a - b


def times(a: Scalar, b: Scalar) -> Scalar:
    if _is(a, 0.0) or _is(b, 0.0):
        return 0.0
    if _is(a, 1.0) or _is(b, 1.0):
        return b if _is(a, 1.0) else a
    if _is(a, -1.0) or _is(b, -1.0):
        return -b if _is(a, -1.0) else -a
    return a * b


def over(a: Scalar, b: Scalar) -> Scalar:
    return 0.0 if _is(a, 0.0) else a / b


def total(terms: Any) -> Scalar:
    """The sum of any number of scalars."""
    found: Scalar = 0.0
    for term in terms:
        found = plus(found, term)
    return found


def add(a: Vector, b: Vector) -> Vector:
    return plus(a[0], b[0]), plus(a[1], b[1]), plus(a[2], b[2])


def subtract(a: Vector, b: Vector) -> Vector:
    return minus(a[0], b[0]), minus(a[1], b[1]), minus(a[2], b[2])


def scale(a: Vector, by: Scalar) -> Vector:
    return times(a[0], by), times(a[1], by), times(a[2], by)


def dot(a: Vector, b: Vector) -> Scalar:
    return total(times(x, y) for x, y in zip(a, b, strict=True))


def cross(a: Vector, b: Vector) -> Vector:
    return (
        minus(times(a[1], b[2]), times(a[2], b[1])),
        minus(times(a[2], b[0]), times(a[0], b[2])),
        minus(times(a[0], b[1]), times(a[1], b[0])),
    )


def turn(m: Matrix, a: Vector) -> Vector:
    """A matrix times a vector."""
    return dot(m[0], a), dot(m[1], a), dot(m[2], a)


def transposed(m: Matrix) -> Matrix:
    columns = tuple(zip(*m, strict=True))
    return columns[0], columns[1], columns[2]


def product(a: Matrix, b: Matrix) -> Matrix:
    columns = transposed(b)
    rows = tuple((dot(row, columns[0]), dot(row, columns[1]), dot(row, columns[2])) for row in a)
    return rows[0], rows[1], rows[2]


def rotation(axis: Vector, angle: Scalar) -> Matrix:
    """About a unit axis that is known, by Rodrigues' formula."""
    xp = math if isinstance(angle, float) else jnp
    sine, cosine = xp.sin(angle), xp.cos(angle)
    x, y, z = axis
    rest = 1.0 - cosine

    def across(a: Scalar, b: Scalar, other: Scalar, sign: float) -> Scalar:
        return plus(times(times(a, b), rest), times(times(other, sign), sine))

    def along(a: Scalar) -> Scalar:
        return 1.0 if abs(a) == 1.0 else plus(cosine, times(times(a, a), rest))

    return (
        (along(x), across(x, y, z, -1.0), across(x, z, y, 1.0)),
        (across(x, y, z, 1.0), along(y), across(y, z, x, -1.0)),
        (across(x, z, y, -1.0), across(y, z, x, 1.0), along(z)),
    )


def _is(a: Scalar, value: float) -> bool:
    return isinstance(a, float) and a == value
