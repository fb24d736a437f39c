"""A hand in the world: a damped spring from where a body was taken hold of to where the pointer is."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from gapless.simulators.planar.clone import Push
from gapless.simulators.planar.scene import Mass, Motion

QUICK = 12.0
"""In rad/s: how fast the spring would swing with the whole body on it."""
STRONGEST = 60.0
"""In m/s²: what the hand can pull at most, per kg of the body."""


class Hand(NamedTuple):
    """Which body is held where, and where it shall go; body -1 is none."""

    body: Int[Array, ""]
    grip: Float[Array, "2"]
    """In the frame of the body, in m."""
    target: Float[Array, "2"]
    """In the world, in m."""


def no_hand() -> Hand:
    return Hand(jnp.asarray(-1, jnp.int32), jnp.zeros(2), jnp.zeros(2))


def pull(hand: Hand, motion: Motion, mass: Mass) -> Push:
    """What the hand does to all bodies of one world."""
    angle, kg = motion.angle[hand.body], mass.kg[hand.body]
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    arm = jnp.array([cos * hand.grip[0] - sin * hand.grip[1], sin * hand.grip[0] + cos * hand.grip[1]])
    moves = motion.velocity[hand.body] + motion.spin[hand.body] * jnp.array([-arm[1], arm[0]])
    # What moves at the grip is less than the whole body, and a spring made for the whole would shake it.
    share = 1 / (1 + jnp.sum(arm**2) * kg * mass.inverse_inertia[hand.body])
    wanted = share * (QUICK**2 * (hand.target - motion.position[hand.body] - arm) - 2 * QUICK * moves)
    length = jnp.sqrt(jnp.sum(wanted**2) + 1e-12)
    force = kg * wanted * jnp.minimum(1.0, STRONGEST / length)
    at = (jnp.arange(len(mass.kg)) == hand.body)[:, None]
    torque = arm[0] * force[1] - arm[1] * force[0]
    return Push(at * force, at[:, 0] * torque, jnp.zeros((len(mass.kg), 3)))
