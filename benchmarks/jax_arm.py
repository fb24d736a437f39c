"""The arm of the data sheet as a function that compiles: two links in an upright plane, a load at the tip, no dry friction."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import Params
from gapless.simulators import TraceableSimulator

GRAVITY = 9.81
UPPER_M, LOWER_M = 0.3, 0.25
UPPER_COM_M, LOWER_COM_M = 0.15, 0.125
UPPER_INERTIA, LOWER_INERTIA = 0.0045 / 0.6, 0.0018 / 0.35
"""About the centre of mass, of each kilogram."""
ROTOR = (0.02, 0.006)


class JaxArm(TraceableSimulator):
    """Joints shoulder and elbow (0 hangs); agrees with MuJoCo and `arm.xml` where nothing sticks, its load being a point."""

    joints = ("shoulder", "elbow")
    sensed = {"shoulder.angle": ("shoulder", "position"), "elbow.angle": ("elbow", "position")}  # noqa: RUF012

    @staticmethod
    def advance(
        params: Params, position: Float[Array, " joint"], velocity: Float[Array, " joint"],
        control: Float[Array, " command"], step_s: float,
    ) -> tuple[Float[Array, " joint"], Float[Array, " joint"]]:  # fmt: skip
        damping = jnp.stack([params["shoulder.damping"], params["elbow.damping"]])
        gain = jnp.stack([params["shoulder.gain"], params["elbow.gain"]])
        torque = gain * control - damping * velocity - _swing(params, position, velocity) - _weight(params, position)
        a, b, c = _mass_matrix(params, jnp.cos(position[1]))
        a, c = a + step_s / 2 * damping[0], c + step_s / 2 * damping[1]
        gone = jnp.stack([c * torque[0] - b * torque[1], a * torque[1] - b * torque[0]]) / (a * c - b * b)
        velocity = velocity + step_s * gone
        return position + step_s * velocity, velocity


def _mass_matrix(params: Params, cosine: Any) -> tuple[Any, Any, Any]:
    """The joint-space inertia: shoulder, what couples both, elbow."""
    upper, lower, load = (params[f"{part}.mass"] for part in ("upper", "lower", "payload"))
    far = lower * (LOWER_INERTIA + LOWER_COM_M**2) + load * LOWER_M**2
    coupled = UPPER_M * cosine * (lower * LOWER_COM_M + load * LOWER_M)
    near = upper * (UPPER_INERTIA + UPPER_COM_M**2) + (lower + load) * UPPER_M**2
    return near + far + 2 * coupled + ROTOR[0], far + coupled, far + ROTOR[1]


def _swing(params: Params, position: Any, velocity: Any) -> Float[Array, " joint"]:
    """The torque that goes with speeds alone."""
    pull = UPPER_M * jnp.sin(position[1]) * (params["lower.mass"] * LOWER_COM_M + params["payload.mass"] * LOWER_M)
    first, second = velocity
    return jnp.stack([-pull * (2 * first * second + second**2), pull * first**2])


def _weight(params: Params, position: Any) -> Float[Array, " joint"]:
    """The torque that holds both links and the load up."""
    upper, lower, load = (params[f"{part}.mass"] for part in ("upper", "lower", "payload"))
    tip = GRAVITY * (lower * LOWER_COM_M + load * LOWER_M) * jnp.sin(position[0] + position[1])
    root = GRAVITY * (upper * UPPER_COM_M + (lower + load) * UPPER_M) * jnp.sin(position[0])
    return jnp.stack([root + tip, tip])
