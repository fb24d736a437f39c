"""The arm on our bench that shoves a puck across a table: two motors, a finger, and a thing that is not the robot."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Channel, Interface, Signals

from .bench import Ranges, placed, told
from .drivetrain import Drivetrain
from .mechanism import Equations, Mechanism, Pair
from .reality import Hidden

GRAVITY = 9.81
LINK_M = 0.2
"""Length of either link."""
HOME_RAD = (np.pi / 3, -2 * np.pi / 3)
"""Where the joints' zeros are: the arm bent, the finger ahead of the shoulder."""
UPPER, UPPER_KG, UPPER_COM_M = 0.0012, 0.4, 0.1
LOWER, LOWER_COM_M = 0.0030, 0.1
"""Inertia about the centre of mass, weight and where it is; the lower link's weight is what the data sheet has wrong."""
LOWER_NOMINAL_KG = 0.3
ROTOR = (0.0030, 0.0015)
PUCK_HOME_M = (0.285, 0.0)
TOUCH_M = 0.07
"""Distance of finger and puck, centre to centre, when they touch."""
CONTACT_PER_S, BOUNCE = 110.0, 0.5
"""Frequency and damping ratio of the touch."""
STOP_RAD = 1.5
TABLE_M = 3.0

INTERFACE = Interface(
    "puck",
    0.02,
    (Channel("shoulder", unit="V", low=-10.0, high=10.0), Channel("elbow", unit="V", low=-10.0, high=10.0)),
    (
        Channel("shoulder.angle", unit="rad", low=-1.4, high=1.4, rate=40.0),
        Channel("elbow.angle", unit="rad", low=-1.4, high=1.4, rate=40.0),
        Channel("puck.x", unit="m"),  # wherever the puck flies, the robot is in no danger
        Channel("puck.y", unit="m"),
    ),
    ("shoulder", "elbow", "puck_x", "puck_y", "puck_z"),
)


class PuckReality(Mechanism):
    """A planar arm, a spring and a damper where the finger touches, and a puck with dry friction under it."""

    interface = INTERFACE
    joints = ("shoulder", "elbow", "puck_x", "puck_y")
    drivetrain = Drivetrain(2, 10.0, rotor=ROTOR, inertia=(0.02, 0.008), cog=0.26, creep=0.3, drag=0.4)
    stops = (STOP_RAD, STOP_RAD)

    def draw(self, rng: np.random.Generator) -> Hidden:
        between, both = Ranges(rng).between, Ranges(rng).both
        nominal_gain, nominal_damping = np.array([0.14, 0.09]), np.array([0.04, 0.02])
        return {
            "lower_kg": LOWER_NOMINAL_KG * between(1.15, 1.30),
            "puck_kg": 0.12 * between(1.1, 1.3),
            "floor": 0.2 * between(1.25, 1.5),
            "gain": nominal_gain * both(0.70, 0.82),
            "damping": nominal_damping * both(1.5, 2.1),
            "coulomb": np.array([1.4, 0.9]) * both(0.04, 0.07),
            "latency_s": between(0.014, 0.028),
            "noise": (1e-3, 1e-3, 6e-4, 6e-4),
            "jitter_s": between(0.004, 0.008),
            "stribeck": between(0.5, 0.9),
            "bristle": np.array([40.0, 16.0]) * between(0.7, 1.3),
            "gap": both(0.02, 0.04),
            "belt": np.array([14.0, 6.0]) * between(0.8, 1.2),
            "cogging": np.array([0.09, 0.05]) * between(0.8, 1.2),
            "cable": np.array([0.24, 0.135]) * between(0.8, 1.2),
            "warming_s": between(0.5, 1.0),
            "slew": between(90.0, 140.0),
            "dead_band": between(0.5, 0.8),
            "patch_m": between(0.10, 0.25),
            "patch": between(0.5, 0.8),
        }

    def begin(self, key: PRNGKeyArray) -> Pair:
        return 0.02 * jax.random.normal(key, (2,))

    def start(self, hidden: Hidden, key: PRNGKeyArray) -> Any:
        keys = jax.random.split(key)
        lies = jax.random.uniform(keys[1], (2,), minval=-0.01, maxval=0.01)
        return {**super().start(hidden, keys[0]), "puck": lies, "slip": jnp.zeros(2)}

    def place(self, state: Any, start: Signals) -> Any:
        return placed(super().place(state, start), self.joints[2:], start, ("puck", "slip"))

    def joint_states(self, state: Any) -> Signals:
        return super().joint_states(state) | told(state, self.joints[2:], ("puck", "slip"))

    def read(self, state: Any) -> Float[Array, "4"]:
        return jnp.concatenate([state["position"], state["puck"]])

    def equations(self, hidden: Hidden, position: Pair, speed: Pair) -> Equations:
        mass = self._mass(hidden, position)
        whirl = hidden["lower_kg"] * LINK_M * LOWER_COM_M * jnp.sin(position[1] + HOME_RAD[1])
        turn = whirl * jnp.stack([(2 * speed[0] + speed[1]) * speed[1], -(speed[0] ** 2)])
        return Equations(mass, turn)

    def damping(self, hidden: Hidden) -> Pair:
        return jnp.asarray(hidden["damping"])

    def dry(self, hidden: Hidden, state: Any) -> Pair:
        return jnp.asarray(hidden["coulomb"])

    def tick(self, hidden: Hidden, state: Any) -> Any:
        state, torque = self._driven_by(hidden, state)
        speed, inverse = self._freed(hidden, state, torque)
        slip = self._slowed(hidden, state)
        normal, reach, depth = self._facing(state)
        across, kg = normal @ reach, hidden["puck_kg"]
        closing, closing_now = across @ speed - normal @ slip, across @ state["speed"] - normal @ state["slip"]
        # A spring and a damper set how fast the two part, whatever else pushes them together.
        parting = self.tick_s * (CONTACT_PER_S**2 * depth + 2 * BOUNCE * CONTACT_PER_S * closing_now)
        push = (closing - closing_now + parting) / (1 / kg + across @ inverse @ across)
        push = jnp.where(depth > 0, jnp.maximum(push, 0.0), 0.0)
        state = self._moved(state, speed - inverse @ across * push)
        slip = slip + normal * push / kg
        return {**state, "slip": slip, "puck": jnp.clip(state["puck"] + self.tick_s * slip, -TABLE_M, TABLE_M)}

    def _mass(self, hidden: Hidden, position: Pair) -> Float[Array, "2 2"]:
        kg, bend = hidden["lower_kg"], jnp.cos(position[1] + HOME_RAD[1])
        shape = LOWER / LOWER_NOMINAL_KG * kg + kg * LOWER_COM_M**2
        coupled = shape + kg * LINK_M * LOWER_COM_M * bend
        first = UPPER + UPPER_KG * UPPER_COM_M**2 + shape + kg * LINK_M**2 + 2 * kg * LINK_M * LOWER_COM_M * bend
        rotors = jnp.asarray(self.weighed(ROTOR, (0.0, 0.0)))
        return jnp.array([[first + rotors[0], coupled], [coupled, shape + rotors[1]]])

    def _facing(self, state: Any) -> tuple[Pair, Float[Array, "2 2"], Float[Array, ""]]:
        """The direction from finger to puck, how the finger moves with the joints, and how deep the two overlap."""
        first = state["position"][0] + HOME_RAD[0]
        second = first + state["position"][1] + HOME_RAD[1]
        a = LINK_M * jnp.stack([jnp.cos(first), jnp.sin(first)])
        b = LINK_M * jnp.stack([jnp.cos(second), jnp.sin(second)])
        reach = jnp.stack([jnp.stack([-a[1] - b[1], a[0] + b[0]]), jnp.stack([-b[1], b[0]])], axis=1)
        apart = state["puck"] + jnp.asarray(PUCK_HOME_M) - (a + b)
        distance = jnp.sqrt(apart @ apart + 1e-12)
        return apart / distance, reach, TOUCH_M - distance

    def _slowed(self, hidden: Hidden, state: Any) -> Pair:
        """The puck's speed after a tick of dry friction against it."""
        floor, slip = hidden["floor"], state["slip"]
        if "patches" in self.effects:
            off = (state["puck"][0] - hidden["patch_m"]) / 0.05
            floor = floor * (1 + hidden["patch"] * jnp.exp(-(off**2)))
        fast = jnp.sqrt(slip @ slip + 1e-12)
        return slip * jnp.maximum(1 - self.tick_s * floor * GRAVITY / fast, 0.0)
