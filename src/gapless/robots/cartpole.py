"""The cart-pole that stands on our bench: motor and belt, voltage command, encoders, and what its data sheet leaves out."""

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
CART_KG, ROTOR_KG = 0.5, 0.08
"""The cart's weight is known; the rotor, seen through the belt, is a part of it."""
INERTIA_PER_KG = 0.0031 / 0.15
"""The rod's own inertia; where its weight sits is what the data sheet has wrong."""
RAIL_END_M = 0.5

INTERFACE = Interface(
    "cartpole",
    0.02,
    (Channel("motor", unit="V", low=-10.0, high=10.0),),
    (
        Channel("cart.position", unit="m", low=-0.45, high=0.45, rate=4.0),
        Channel("pole.angle", unit="rad", rate=60.0),
    ),
    ("slider", "hinge"),
)


class CartpoleReality(Mechanism):
    """A cart on a tilted rail and a pole that hangs from it."""

    interface = INTERFACE
    joints = ("slider", "hinge")
    drivetrain = Drivetrain(1, 10.0, rotor=(ROTOR_KG,), inertia=(CART_KG,), cog=0.024, creep=0.05, drag=0.05)
    stops = (RAIL_END_M, np.inf)

    def draw(self, rng: np.random.Generator) -> Hidden:
        between = Ranges(rng).between
        return {
            "pole_kg": 0.15 * between(1.15, 1.30),
            "lever_m": 0.25 * between(1.02, 1.10),
            "tilt_rad": between(0.01, 0.025) * (1 if rng.random() < 0.5 else -1),
            "gain": 1.5 * between(0.70, 0.82),
            "damping": 4.0 * between(1.5, 2.1),
            "hinge_damping": 0.0008 * between(1.5, 3.0),
            "coulomb": 15.0 * between(0.05, 0.09),
            "latency_s": between(0.020, 0.034),
            "noise": (2e-4, 1.5e-3),
            "jitter_s": between(0.004, 0.008),
            "stribeck": between(0.5, 0.9),
            "bristle": between(1500.0, 3000.0),
            "gap": between(0.0015, 0.003),
            "belt": between(100.0, 160.0),
            "cogging": between(0.9, 1.3),
            "cable": between(20.0, 28.0),
            "warming_s": between(1.5, 3.0),
            "slew": between(50.0, 80.0),
            "dead_band": between(0.9, 1.3),
            "patch_m": between(-0.15, 0.15),
            "patch": between(3.0, 4.0),
        }

    def begin(self, key: PRNGKeyArray) -> Pair:
        keys = jax.random.split(key)
        x = jax.random.uniform(keys[0], minval=-0.05, maxval=0.05)
        return jnp.stack([x, 0.05 * jax.random.normal(keys[1])])

    def equations(self, hidden: Hidden, position: Pair, speed: Pair) -> Equations:
        pole, lever, angle, spin = hidden["pole_kg"], hidden["lever_m"], position[1], speed[1]
        aside, down = GRAVITY * jnp.sin(hidden["tilt_rad"]), GRAVITY * jnp.cos(hidden["tilt_rad"])
        total = self.weighed(CART_KG, CART_KG - ROTOR_KG) + pole
        coupled = pole * lever * jnp.cos(angle)
        mass = jnp.array([[total, coupled], [coupled, pole * (INERTIA_PER_KG + lever**2)]])
        along = pole * lever * jnp.sin(angle) * spin**2 + total * aside
        return Equations(mass, jnp.stack([along, -pole * lever * down * jnp.sin(angle) + coupled * aside]))

    def damping(self, hidden: Hidden) -> Pair:
        return jnp.stack([hidden["damping"], hidden["hinge_damping"]])

    def dry(self, hidden: Hidden, state: Any) -> Pair:
        rail = jnp.asarray(hidden["coulomb"])
        if "patches" in self.effects:
            off = (state["position"][0] - hidden["patch_m"]) / 0.06
            rail = rail * (1 + hidden["patch"] * jnp.exp(-(off**2)))
        return jnp.stack([rail, jnp.zeros(())])
