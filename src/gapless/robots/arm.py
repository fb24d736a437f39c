"""The arm on our bench that carries what is hung on its hook: two motors against gravity, and a load that comes and goes."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Channel, Interface

from .bench import Ranges
from .drivetrain import Drivetrain
from .mechanism import Equations, Mechanism, Pair
from .reality import Hidden

GRAVITY = 9.81
UPPER_M, LOWER_M = 0.3, 0.25
UPPER, UPPER_KG, UPPER_COM_M = 0.0045, 0.6, 0.15
LOWER, LOWER_COM_M = 0.0018, 0.125
"""Inertia about the centre of mass, weight and where it is; the lower link's weight is what the data sheet has wrong."""
LOWER_NOMINAL_KG = 0.35
ROTOR = (0.02, 0.006)
HOOK_KG = 0.05
LOADS_KG = (0.15, 0.45)
"""What hangs on the hook while it is loaded, the hook included."""
HUNG_S, TAKEN_S = (1.2, 2.0), (3.0, 3.8)
"""When somebody hangs a load on the hook, and when somebody takes it off."""
STOP_RAD = 2.4

INTERFACE = Interface(
    "arm",
    0.02,
    (Channel("shoulder", unit="V", low=-10.0, high=10.0), Channel("elbow", unit="V", low=-10.0, high=10.0)),
    (
        Channel("shoulder.angle", unit="rad", low=-2.2, high=2.2, rate=25.0),
        Channel("elbow.angle", unit="rad", low=-2.2, high=2.2, rate=40.0),
    ),
    ("shoulder", "elbow"),
)


class ArmReality(Mechanism):
    """Two links that swing upright, and a weight at their end of which neither size nor times are known."""

    interface = INTERFACE
    joints = ("shoulder", "elbow")
    drivetrain = Drivetrain(2, 10.0, rotor=ROTOR, inertia=(0.1, 0.03), cog=0.26, creep=0.3, drag=0.4)
    stops = (STOP_RAD, STOP_RAD)

    def draw(self, rng: np.random.Generator) -> Hidden:
        between, both = Ranges(rng).between, Ranges(rng).both
        nominal_gain, nominal_damping = np.array([1.0, 0.35]), np.array([0.12, 0.04])
        return {
            "lower_kg": LOWER_NOMINAL_KG * between(1.15, 1.30),
            "gain": nominal_gain * both(0.70, 0.82),
            "damping": nominal_damping * both(1.5, 2.1),
            "coulomb": 10 * nominal_gain * both(0.03, 0.06),
            "latency_s": between(0.014, 0.030),
            "noise": (1.5e-3, 1.5e-3),
            "jitter_s": between(0.004, 0.008),
            "stribeck": between(0.5, 0.9),
            "bristle": np.array([200.0, 70.0]) * between(0.7, 1.3),
            "gap": both(0.03, 0.05),
            "belt": np.array([60.0, 20.0]) * between(0.8, 1.2),
            "cogging": np.array([0.65, 0.25]) * between(0.8, 1.2),
            "cable": np.array([1.7, 0.55]) * between(0.8, 1.2),
            "warming_s": between(0.5, 1.0),
            "slew": between(60.0, 90.0),
            "dead_band": between(0.6, 0.9),
            "patch_rad": between(-0.6, 0.6),
            "patch": between(3.0, 4.0),
        }

    def begin(self, key: PRNGKeyArray) -> Pair:
        return 0.05 * jax.random.normal(key, (2,))

    def start(self, hidden: Hidden, key: PRNGKeyArray) -> Any:
        keys = jax.random.split(key, 4)
        load = {
            "load_kg": jax.random.uniform(keys[1], minval=LOADS_KG[0], maxval=LOADS_KG[1]),
            "hung_s": jax.random.uniform(keys[2], minval=HUNG_S[0], maxval=HUNG_S[1]),
            "taken_s": jax.random.uniform(keys[3], minval=TAKEN_S[0], maxval=TAKEN_S[1]),
        }
        return {**super().start(hidden, keys[0]), **load}

    def undisturbed(self, state: Any) -> Any:
        """Nobody hangs anything on the hook."""
        return {**state, "load_kg": jnp.full_like(state["load_kg"], HOOK_KG)}

    def tick(self, hidden: Hidden, state: Any) -> Any:
        return super().tick({**hidden, "tip_kg": self._tip_kg(state)}, state)

    def equations(self, hidden: Hidden, position: Pair, speed: Pair) -> Equations:
        kg, tip_kg, bend = hidden["lower_kg"], hidden["tip_kg"], position[1]
        own = LOWER / LOWER_NOMINAL_KG * kg + kg * LOWER_COM_M**2 + tip_kg * LOWER_M**2
        reach = kg * LOWER_COM_M + tip_kg * LOWER_M
        coupled = own + UPPER_M * reach * jnp.cos(bend)
        first = UPPER + UPPER_KG * UPPER_COM_M**2 + (kg + tip_kg) * UPPER_M**2 + 2 * coupled - own
        rotors = jnp.asarray(self.weighed(ROTOR, (0.0, 0.0)))
        mass = jnp.array([[first + rotors[0], coupled], [coupled, own + rotors[1]]])
        whirl = UPPER_M * reach * jnp.sin(bend)
        turn = whirl * jnp.stack([(2 * speed[0] + speed[1]) * speed[1], -(speed[0] ** 2)])
        lower = GRAVITY * reach * jnp.sin(position[0] + bend)
        upper = GRAVITY * (UPPER_KG * UPPER_COM_M + (kg + tip_kg) * UPPER_M) * jnp.sin(position[0])
        return Equations(mass, turn - jnp.stack([upper + lower, lower]))

    def damping(self, hidden: Hidden) -> Pair:
        return jnp.asarray(hidden["damping"])

    def dry(self, hidden: Hidden, state: Any) -> Pair:
        level = jnp.asarray(hidden["coulomb"])
        if "patches" in self.effects:
            off = (state["position"][0] - hidden["patch_rad"]) / 0.25
            level = level * jnp.stack([1 + hidden["patch"] * jnp.exp(-(off**2)), jnp.ones(())])
        return level

    def _tip_kg(self, state: Any) -> Float[Array, ""]:
        """What hangs at the tip now."""
        time_s = state["drive"]["time"]
        loaded = (time_s >= state["hung_s"]) & (time_s < state["taken_s"])
        return jnp.where(loaded, state["load_kg"], HOOK_KG)
