"""Where and how each corner meets the plane: all computed, nothing learned."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import Params

from .body import Body
from .vectors import Quaternions, Vectors, cross, dot, matrix, to_body, unit

Each = Float[Array, "corner world"]
SLIP = 1e-6
"""Speed in m/s that is added to every slip, so that a corner at rest has a direction."""


class Motion(NamedTuple):
    """The body's state."""

    position: Vectors
    """Of its centre of mass, m."""
    quaternion: Quaternions
    velocity: Vectors
    """Of its centre of mass, m/s."""
    spin: Vectors
    """In the body's frame, rad/s."""


class Touch(NamedTuple):
    """Corners and the plane; vectors are in the body's frame."""

    gap: Each
    """Above the plane, m; below it negative."""
    rise: Each
    """Speed away from the plane, m/s."""
    slip: Each
    """Speed along it, m/s."""
    along: Float[Array, "3 corner world"]
    """Direction of the slip."""
    normal: Float[Array, "3 1 world"]
    arm: Float[Array, "3 corner world"]
    """From the centre of mass, m."""
    give: Each
    """What a unit impulse along the normal changes in the rise, per unit of mass."""
    yields: Each
    """What a unit impulse against the slip changes in it."""


def inertia(params: Params) -> Vectors:
    """About the body's axes, over mass, m²."""
    x, y = params["body.longer_x"], params["body.longer_y"]
    return params["body.gyration"] ** 2 * jnp.exp(jnp.stack([x, y, -x - y]))


def vector(params: Params, name: str) -> Vectors:
    """Three parameters that are one vector."""
    return jnp.stack([params[f"{name}_{axis}"] for axis in "xyz"])


def touches(body: Body, params: Params, motion: Motion) -> Touch:
    """Every corner's geometry and velocity, in the body's frame: there the corners rest."""
    turn = matrix(motion.quaternion)
    away = vector(params, "body.middle") - vector(params, "body.centre")
    arm = jnp.asarray(body.corners, jnp.float32)[..., None] * params["body.scale"] + away[:, None]
    flat = jnp.ones_like(params["floor.tilt_x"])
    up = unit(jnp.stack([params["floor.tilt_x"], params["floor.tilt_y"], flat]))
    normal = to_body(turn, up)[:, None]
    gap = dot(motion.position, up) - params["floor.height"] + dot(arm, normal)
    velocity = to_body(turn, motion.velocity)[:, None] + cross(motion.spin[:, None], arm)
    rise = dot(velocity, normal)
    sliding = velocity - rise * normal
    slip = jnp.sqrt(dot(sliding, sliding) + SLIP**2)
    along = sliding / slip
    easy = (1 / inertia(params))[:, None]

    def answer(direction: Vectors) -> Each:
        lever = cross(arm, direction)
        return 1 + dot(lever * lever, easy)

    return Touch(gap, rise, slip, along, normal, arm, answer(normal), answer(along))
