"""Throw the body: the motion of many worlds from their first states, as it would be measured."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import Params

from .body import Body
from .law import Bend, Bending, forces
from .touch import Motion, inertia, touches, vector
from .vectors import Quaternions, Vectors, cross, matrix, multiply, small_turn, to_world

SUBSTEPS = 8


class Start(NamedTuple):
    """The first measured state."""

    position: Vectors
    """Of the tracked frame, m."""
    quaternion: Quaternions
    velocity: Vectors
    """In the world's frame, m/s."""
    spin: Vectors
    """In the body's frame, rad/s."""


class Seen(NamedTuple):
    """What is tracked, sample by sample; the first row is the start."""

    position: Float[Array, "time 3 world"]
    quaternion: Float[Array, "time 4 world"]


def play(
    body: Body, params: Params, start: Start, samples: int, period_s: float, bending: Bending | None = None,
    memory: float = 1.0,
) -> Seen:  # fmt: skip
    """The tracked motion; a law that is bent is bent anew with each sample.

    Gradients keep this share of their memory from sample to sample: through many bounces they would grow without bound.
    """
    motion, dt_s = launched(params, start, period_s), period_s / SUBSTEPS

    @jax.checkpoint
    def sample(motion: Motion, _: None) -> tuple[Motion, Seen]:
        motion = jax.tree.map(lambda x: memory * x + (1 - memory) * jax.lax.stop_gradient(x), motion)
        bend = None if bending is None else bending(touches(body, params, motion))
        motion, _ = jax.lax.scan(lambda m, _: (step(body, params, m, bend, dt_s), None), motion, None, SUBSTEPS)
        tracked = motion.position - to_world(matrix(motion.quaternion), vector(params, "body.centre"))
        return motion, Seen(tracked, motion.quaternion)

    seen = jax.lax.scan(sample, motion, None, samples - 1)[1]
    return Seen(*(jnp.concatenate([first[None], later]) for first, later in zip(start[:2], seen, strict=True)))


def launched(params: Params, start: Start, period_s: float) -> Motion:
    """The centre of mass as it is thrown; a measured velocity is the mean over a period that ended `start.late` before."""
    centre, turn = vector(params, "body.centre"), matrix(start.quaternion)
    later = params["start.late"] * period_s
    velocity = start.velocity + falling(params) * later + to_world(turn, cross(start.spin, centre))
    return Motion(start.position + to_world(turn, centre), start.quaternion, velocity, start.spin)


def falling(params: Params) -> Vectors:
    """Acceleration in free fall, m/s²."""
    sideways = [params["gravity.x"], params["gravity.y"], -jnp.ones_like(params["gravity.x"])]
    return params["gravity.down"] * jnp.stack(sideways)


def step(body: Body, params: Params, motion: Motion, bend: Bend | None, dt_s: float) -> Motion:
    """The motion after one time step, semi-implicit."""
    touch = touches(body, params, motion)
    force = forces(params, touch, bend, dt_s)
    moments, torque = inertia(params), jnp.sum(cross(touch.arm, force), axis=1)
    pushed = to_world(matrix(motion.quaternion), jnp.sum(force, axis=1))
    velocity = motion.velocity + dt_s * (pushed + falling(params))
    spin = motion.spin + dt_s * (torque - cross(motion.spin, moments * motion.spin)) / moments
    quaternion = multiply(motion.quaternion, small_turn(dt_s * spin))
    return Motion(motion.position + dt_s * velocity, quaternion, velocity, spin)
