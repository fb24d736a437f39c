"""The material law of a corner: a damped spring that never pulls, and a cone of friction."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import Params

from .touch import Touch
from .vectors import cross

Bend = Float[Array, "3 corner world"]
"""What bends the law: logarithms of a factor on the push and of one on the friction, and a share of friction to the side."""
Bending = Callable[[Touch], Bend]
STICTION_SPEED = 0.1
"""Slip in m/s over which stiction fades."""


def forces(params: Params, touch: Touch, bend: Bend | None, dt_s: float) -> Float[Array, "3 corner world"]:
    """What the plane does to each corner, N per kg of the body, in the body's frame."""
    on = touch.gap < 0
    stiffness = (2 * jnp.pi * params["contact.frequency"]) ** 2
    viscous = 2 * params["contact.damping"] * jnp.sqrt(stiffness / touch.give)
    spring = -stiffness * touch.gap * (1 - params["contact.hardening"] * touch.rise)
    push = jnp.where(on, jnp.maximum(0.0, spring - viscous * touch.rise), 0.0)
    fade = jnp.exp(-params["contact.fading"] * touch.slip)
    sticking = params["contact.stiction"] * jnp.exp(-touch.slip / STICTION_SPEED)
    friction = (params["contact.friction"] + sticking) * fade
    aside = jnp.zeros_like(push)
    if bend is not None:
        push, friction, aside = push * jnp.exp(bend[0]), friction * jnp.exp(bend[1]), push * friction * bend[2]
    # No more than stops the slip within the step, shared by those that touch: friction never reverses it.
    stops = touch.slip / (touch.yields * jnp.maximum(jnp.sum(on, axis=0), 1) * dt_s)
    drag = jnp.minimum(friction * push, stops)
    force = push * touch.normal - drag * touch.along
    if bend is None:
        return force
    return force + jnp.minimum(jnp.abs(aside), stops) * jnp.sign(aside) * cross(touch.normal, touch.along)
