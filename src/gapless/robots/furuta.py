"""The rotary pendulum on our bench: a motor turns an arm, and at its end a pendulum swings."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Channel, Interface

from .bench import Ranges
from .drivetrain import Drivetrain
from .mechanism import Equations, Mechanism, Pair
from .reality import Hidden

GRAVITY = 9.81
ARM_M = 0.2
HUB, ROTOR = 0.004, 0.0008
"""Inertia of arm and motor about the axis, in kg m², which is known; the rotor's is a part of it."""
INERTIA_PER_KG = 0.00052 / 0.1
"""The rod's own inertia; where its weight sits is what the data sheet has wrong."""
STOP_RAD = 2.4

INTERFACE = Interface(
    "furuta",
    0.02,
    (Channel("motor", unit="V", low=-10.0, high=10.0),),
    (
        Channel("arm.angle", unit="rad", low=-2.2, high=2.2, rate=30.0),
        Channel("pendulum.angle", unit="rad", rate=80.0),
    ),
    ("arm", "pendulum"),
)


class FurutaReality(Mechanism):
    """The arm turns in the plane, the pendulum in the plane across its end; angle 0 hangs."""

    interface = INTERFACE
    joints = ("arm", "pendulum")
    drivetrain = Drivetrain(1, 10.0, rotor=(ROTOR,), inertia=(HUB,), cog=0.26, creep=0.3, drag=0.4)
    stops = (STOP_RAD, np.inf)

    def draw(self, rng: np.random.Generator) -> Hidden:
        between = Ranges(rng).between
        return {
            "pendulum_kg": 0.1 * between(1.15, 1.30),
            "lever_m": 0.125 * between(1.02, 1.10),
            "gain": 0.042 * between(0.70, 0.82),
            "damping": 0.010 * between(1.5, 2.1),
            "swing_damping": 0.0001 * between(1.5, 3.0),
            "coulomb": 0.25 * between(0.05, 0.09),
            "latency_s": between(0.016, 0.030),
            "noise": (1.5e-3, 1.5e-3),
            "jitter_s": between(0.004, 0.008),
            "stribeck": between(0.5, 0.9),
            "bristle": between(6.0, 12.0),
            "gap": between(0.03, 0.06),
            "belt": between(0.6, 0.9),
            "cogging": between(0.038, 0.050),
            "cable": between(0.14, 0.18),
            "warming_s": between(1.5, 3.0),
            "slew": between(35.0, 55.0),
            "dead_band": between(0.9, 1.3),
            "patch_rad": between(-0.6, 0.6),
            "patch": between(5.0, 6.0),
        }

    def begin(self, key: PRNGKeyArray) -> Pair:
        keys = jax.random.split(key)
        turned = jax.random.uniform(keys[0], minval=-0.1, maxval=0.1)
        return jnp.stack([turned, 0.05 * jax.random.normal(keys[1])])

    def equations(self, hidden: Hidden, position: Pair, speed: Pair) -> Equations:
        kg, lever = hidden["pendulum_kg"], hidden["lever_m"]
        sine, cosine = jnp.sin(position[1]), jnp.cos(position[1])
        swing, coupled = kg * (INERTIA_PER_KG + lever**2), kg * ARM_M * lever * cosine
        hub = self.weighed(HUB, HUB - ROTOR) + kg * ARM_M**2 + swing * sine**2
        turn = kg * ARM_M * lever * sine * speed[1] ** 2 - 2 * swing * sine * cosine * speed[0] * speed[1]
        fall = swing * sine * cosine * speed[0] ** 2 - kg * GRAVITY * lever * sine
        return Equations(jnp.array([[hub, coupled], [coupled, swing]]), jnp.stack([turn, fall]))

    def damping(self, hidden: Hidden) -> Pair:
        return jnp.stack([hidden["damping"], hidden["swing_damping"]])

    def dry(self, hidden: Hidden, state: Any) -> Pair:
        axis = jnp.asarray(hidden["coulomb"])
        if "patches" in self.effects:
            off = (state["position"][0] - hidden["patch_rad"]) / 0.25
            axis = axis * (1 + hidden["patch"] * jnp.exp(-(off**2)))
        return jnp.stack([axis, jnp.zeros(())])
