"""The cart-pole as a function that compiles: MuJoCo's own integrator and soft dry friction, solved by hand for two joints."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import Params

from .traceable import TraceableSimulator

GRAVITY = 9.81
ROD_INERTIA_PER_MASS = 0.0031 / 0.15
# The model's solimpfriction, and its solreffriction in time steps: as stiff as may be.
IMPEDANCE, WIDEST_IMPEDANCE, STIFFEST = 0.99, 0.99, 2.0


class JaxCartpole(TraceableSimulator):
    """Joints slider and hinge (0 hangs); agrees with the MuJoCo model `cartpole.xml` to single precision."""

    joints = ("slider", "hinge")
    sensed = {"cart.position": ("slider", "position"), "pole.angle": ("hinge", "position")}  # noqa: RUF012

    @staticmethod
    def advance(
        params: Params, position: Float[Array, " joint"], velocity: Float[Array, " joint"],
        control: Float[Array, " command"], step_s: float,
    ) -> tuple[Float[Array, " joint"], Float[Array, " joint"]]:  # fmt: skip
        angle, (speed, spin) = position[1], velocity
        pole, lever, damping = (
            params["pole.mass"],
            params["pole.com"],
            (params["slider.damping"], params["hinge.damping"]),
        )
        m11, m12, m22 = mass = _mass_matrix(params, jnp.cos(angle), step_s)
        sway = pole * lever * jnp.sin(angle)
        aside = GRAVITY * jnp.sin(params.get("gravity.tilt_x", 0.0))
        down = jnp.sqrt(GRAVITY**2 - aside**2)
        smooth = (
            params["motor.gain"] * control[0]
            + sway * spin**2
            - damping[0] * speed
            + (params["cart.mass"] + pole) * aside,
            -sway * down + m12 * aside - damping[1] * spin,
        )
        friction = _dry_friction(params, mass, smooth, speed, step_s)
        a = _solve(m11, m12, m22, smooth[0] + friction, smooth[1])
        velocity = velocity + step_s * jnp.stack(a)
        return position + step_s * velocity, velocity


def _mass_matrix(params: Params, cosine: Any, step_s: float) -> tuple[Any, Any, Any]:
    """The joint-space inertia: both joints and what couples them; the slider's armature is half a step's damping."""
    pole, lever = params["pole.mass"], params["pole.com"]
    about_com = pole * ROD_INERTIA_PER_MASS * params["pole.inertia"]
    armature = step_s / 2 * params["slider.damping"]
    return params["cart.mass"] + armature + pole, pole * lever * cosine, about_com + pole * lever**2


def _dry_friction(params: Params, mass: tuple, smooth: tuple, speed: Any, step_s: float) -> Any:
    """MuJoCo's soft constraint on the slider: the force that would stop it, cut off at the friction loss."""
    m11, m12, m22 = mass
    r11, r12, r22 = _mass_matrix(params, 1.0, step_s)
    compliance = (1 - IMPEDANCE) / IMPEDANCE * r22 / (r11 * r22 - r12**2)
    wanted = -2 / (WIDEST_IMPEDANCE * STIFFEST * step_s) * speed
    free = _solve(m11, m12, m22, *smooth)[0]
    force = (wanted - free) / (m22 / (m11 * m22 - m12**2) + compliance)
    return jnp.clip(force, -params["slider.friction"], params["slider.friction"])


def _solve(a: Any, b: Any, c: Any, x: Any, y: Any) -> tuple[Any, Any]:
    determinant = a * c - b * b
    return (c * x - b * y) / determinant, (a * y - b * x) / determinant
