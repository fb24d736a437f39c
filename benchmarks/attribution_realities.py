"""Twins at their data sheet but for named effects, whose sensors may be biased, scaled and late."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from gapless.core import generator_for
from gapless.robots.finding import REALITIES
from gapless.robots.reality import Hidden, Reality

TRAIL = 48
"""Ticks that a late sensor remembers."""
NOMINAL: dict[str, Hidden] = {
    "cartpole": {"pole_kg": 0.15, "lever_m": 0.25, "tilt_rad": 0.0, "gain": 1.5, "damping": 4.0, "hinge_damping": 0.0008,
                 "coulomb": 0.0, "latency_s": 0.0},
    "furuta": {"pendulum_kg": 0.1, "lever_m": 0.125, "gain": 0.042, "damping": 0.010, "swing_damping": 0.0001,
               "coulomb": 0.0, "latency_s": 0.0},
    "puck": {"lower_kg": 0.3, "puck_kg": 0.12, "floor": 0.2, "gain": np.array([0.14, 0.09]),
             "damping": np.array([0.04, 0.02]), "coulomb": np.zeros(2), "latency_s": 0.0},
}  # fmt: skip
"""What the model files say."""
MASS = {"cartpole": "pole_kg", "furuta": "pendulum_kg", "puck": "lower_kg"}
STRENGTH = {"cartpole": 15.0, "furuta": 0.25, "puck": np.array([1.4, 0.9])}
"""Largest force of the motors; dry friction is a share of it."""
SIDES = {"light": -1.0, "heavy": 1.0, "weak": -1.0, "strong": 1.0}
"""Effects whose name says to which side they go."""
SENSOR = 1
"""The sensor that is wrong, where one is: pole, pendulum, elbow."""


def reality_of(robot: str, effects: list[str], seed: int) -> Reality:
    """A twin at its data sheet, but for these effects; the strengths are those of the tiers, to either side."""
    rng = generator_for(seed, "attribution", *effects)
    made: Any = SENSED[robot](seed)
    made.hidden |= NOMINAL[robot]
    made.effects = frozenset(
        {"patches" if e.endswith("patches") else e for e in effects} & set(made.named + made.unnamed)
    )
    for effect in effects:
        made.hidden |= changes(robot, effect, rng)
    return made


def changes(robot: str, effect: str, rng: np.random.Generator) -> Hidden:
    """The hidden numbers that one effect moves."""
    share, side = float(rng.uniform()), float(rng.choice([-1.0, 1.0]))
    nominal, dry = NOMINAL[robot], (0.05 + 0.04 * share) * np.asarray(STRENGTH[robot])
    single = SIDES.get(effect, side)
    moved = 1 + single * (0.15 + 0.15 * share)
    sensor = np.arange(len(REALITIES[robot].interface.measurements)) == SENSOR
    return {
        "latency": {"latency_s": 0.012 + 0.024 * share},
        "jitter": {"latency_s": 0.012 + 0.024 * share},
        "viscous": {"damping": nominal["damping"] * (1.5 + 0.6 * share)},
        "coulomb": {"coulomb": dry},
        "lugre": {"coulomb": dry},
        "rail patches": {"coulomb": dry},
        "heavy": {MASS[robot]: nominal[MASS[robot]] * moved},
        "light": {MASS[robot]: nominal[MASS[robot]] * moved},
        "com": {"lever_m": nominal.get("lever_m", 0.0) * (1 + single * (0.06 + 0.06 * share))},
        "puck mass": {"puck_kg": nominal.get("puck_kg", 0.0) * (1.3 + 0.2 * share)},
        "weak": {"gain": nominal["gain"] * moved},
        "strong": {"gain": nominal["gain"] * moved},
        "floor": {"floor": nominal.get("floor", 0.0) * (1.25 + 0.25 * share)},
        "smooth floor": {"floor": nominal.get("floor", 0.0) * (0.8 - 0.2 * share)},
        "bias": {"bias": sensor * single * (0.04 + 0.04 * share)},
        "scale": {"scale": 1 + sensor * single * (0.05 + 0.07 * share)},
        "late": {"late_s": sensor * (0.010 + 0.020 * share)},
    }.get(effect, {})


def _sensed(kind: type[Any]) -> type[Any]:
    """A twin whose sensors may be biased, scaled and late."""

    class Sensed(kind):
        def draw(self, rng: np.random.Generator) -> Hidden:
            channels = len(self.interface.measurements)
            zero = np.zeros(channels)
            return {**super().draw(rng), "bias": zero, "scale": np.ones(channels), "late_s": zero}

        def start(self, hidden: Hidden, key: Any) -> Any:
            return self._remembering(super().start(hidden, key))

        def place(self, state: Any, start: Any) -> Any:
            return self._remembering(super().place(state, start))

        def tick(self, hidden: Hidden, state: Any) -> Any:
            state = super().tick(hidden, state)
            return {**state, "trail": jnp.concatenate([super().read(state)[None], state["trail"][:-1]])}

        def measure(self, hidden: Hidden, state: Any, key: Any) -> Any:
            back = jnp.asarray(hidden["late_s"]) / self.tick_s
            ticks = jnp.arange(TRAIL)[:, None]
            weights = jnp.clip(1 - jnp.abs(ticks - back), 0.0, 1.0)
            seen = (weights * state["trail"]).sum(axis=0)
            return super().measure(hidden, {**state, "seen": hidden["scale"] * seen + hidden["bias"]}, key)

        def read(self, state: Any) -> Any:
            return state["seen"] if "seen" in state else super().read(state)

        def _remembering(self, state: Any) -> Any:
            return {**state, "trail": jnp.tile(super().read(state), (TRAIL, 1))}

    return Sensed


SENSED = {robot: _sensed(kind) for robot, kind in REALITIES.items()}
