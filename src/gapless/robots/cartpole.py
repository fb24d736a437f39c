"""The cart-pole that stands on our bench: motor and belt, voltage command, encoders, and what its data sheet leaves out."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Channel, Interface, Signals

from .reality import Hidden, Reality

GRAVITY = 9.81
CART_KG, ROTOR_KG = 0.5, 0.08
"""The cart's weight is known; the rotor, seen through the belt, is a part of it."""
INERTIA_PER_KG = 0.0031 / 0.15
"""The rod's own inertia; where its weight sits is what the data sheet has wrong."""
RAIL_END_M = 0.5
QUEUE = 6
"""Commands under way at most."""

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


class CartpoleReality(Reality):
    """Lagrange's equations of cart and pole with a motor of its own inertia where belt or backlash let it move apart."""

    interface = INTERFACE
    tick_s = 0.001
    named = ("lugre", "backlash", "jitter")
    unnamed = ("belt", "cogging", "cable", "warming", "firmware", "patches")

    def draw(self, rng: np.random.Generator) -> Hidden:
        def between(low: float, high: float) -> float:
            return float(rng.uniform(low, high))

        return {
            "pole_kg": 0.15 * between(1.15, 1.30),
            "lever_m": 0.25 * between(1.02, 1.10),
            "tilt_rad": between(0.01, 0.025) * (1 if rng.random() < 0.5 else -1),
            "gain": 1.5 * between(0.70, 0.82),
            "damping": 4.0 * between(1.5, 2.1),
            "hinge_damping": 0.0008 * between(1.5, 3.0),
            "coulomb": 15.0 * between(0.05, 0.09),
            "latency_s": between(0.020, 0.034),
            "noise_m": 2e-4,
            "noise_rad": 1.5e-3,
            "jitter_s": between(0.004, 0.008),
            "stribeck": between(0.5, 0.9),
            "bristle": between(1500.0, 3000.0),
            "gap_m": between(0.0015, 0.003),
            "belt": between(600.0, 1000.0),
            "cogging": between(0.5, 0.8),
            "cable": between(12.0, 18.0),
            "warming_s": between(1.5, 3.0),
            "slew": between(90.0, 140.0),
            "dead_band": between(0.5, 0.8),
            "patch_m": between(-0.15, 0.15),
            "patch": between(1.5, 2.5),
        }

    def start(self, hidden: Hidden, key: PRNGKeyArray) -> dict[str, Any]:
        keys = jax.random.split(key)
        x = jax.random.uniform(keys[0], minval=-0.05, maxval=0.05)
        angle = 0.05 * jax.random.normal(keys[1])
        zero = jnp.zeros(())
        return {
            "x": x, "angle": angle, "speed": zero, "spin": zero, "motor": x, "motor_speed": zero,
            "bristle": zero, "cable": zero, "heat": zero, "volts": zero, "time": zero,
            "queue": jnp.zeros(QUEUE), "arrival": jnp.full((QUEUE,), -1.0),
        }  # fmt: skip

    def send(self, hidden: Hidden, state: Any, command: Signals, key: PRNGKeyArray) -> Any:
        delay = hidden["latency_s"]
        if "jitter" in self.effects:
            delay = delay + hidden["jitter_s"] * jax.random.uniform(key, minval=-1.0, maxval=1.0)
        arrival = jnp.maximum(state["time"] + delay, state["arrival"][0])  # a queue keeps its order
        value = jnp.clip(jnp.asarray(command["motor"]).reshape(()), -10.0, 10.0)
        return {
            **state,
            "queue": jnp.concatenate([value[None], state["queue"][:-1]]),
            "arrival": jnp.concatenate([arrival[None], state["arrival"][:-1]]),
        }

    def tick(self, hidden: Hidden, state: Any) -> Any:
        state = self._electronics(hidden, state)
        force = hidden["gain"] * state["volts"] * (1 - 0.15 * state["heat"])
        if "cogging" in self.effects:
            force = force + hidden["cogging"] * jnp.sin(2 * jnp.pi * state["motor"] / 0.024)
        push, state = self._transmission(hidden, state, force)
        return self._mechanics(hidden, state, push)

    def measure(self, hidden: Hidden, state: Any, key: PRNGKeyArray) -> Signals:
        noise = jax.random.normal(key, (2,))
        return {
            "cart.position": (state["x"] + hidden["noise_m"] * noise[0])[None],
            "pole.angle": (state["angle"] + hidden["noise_rad"] * noise[1])[None],
        }

    def _electronics(self, hidden: Hidden, state: Any) -> Any:
        arrived = state["arrival"] <= state["time"] + 0.5 * self.tick_s
        wanted = jnp.where(arrived.any(), state["queue"][jnp.argmax(arrived)], 0.0)
        if "firmware" in self.effects:
            wanted = jnp.where(jnp.abs(wanted) < hidden["dead_band"], 0.0, wanted)
            most = hidden["slew"] * self.tick_s
            wanted = jnp.clip(wanted, state["volts"] - most, state["volts"] + most)
        heat = state["heat"]
        if "warming" in self.effects:
            load = jnp.minimum(jnp.abs(wanted) / 3.0, 1.0)
            heat = heat + self.tick_s / hidden["warming_s"] * (load - heat)
        return {**state, "volts": wanted, "heat": heat, "time": state["time"] + self.tick_s}

    def _transmission(self, hidden: Hidden, state: Any, force: Any) -> tuple[Any, Any]:
        """What reaches the cart: all of it, or what belt and backlash pass on from a motor with a motion of its own."""
        if not {"belt", "backlash"} & self.effects:
            return force, state
        stretch = state["motor"] - state["x"]
        slip = state["motor_speed"] - state["speed"]
        stiffness = hidden["belt"] if "belt" in self.effects else 8000.0
        half_gap = hidden["gap_m"] / 2 if "backlash" in self.effects else 0.0
        bite = jnp.sign(stretch) * jnp.maximum(jnp.abs(stretch) - half_gap, 0.0)
        damping = 2 * 0.15 * jnp.sqrt(stiffness * ROTOR_KG)
        push = stiffness * bite + damping * slip * (jnp.abs(stretch) > half_gap)
        speed = state["motor_speed"] + self.tick_s * (force - push) / ROTOR_KG
        return push, {**state, "motor_speed": speed, "motor": state["motor"] + self.tick_s * speed}

    def _mechanics(self, hidden: Hidden, state: Any, push: Any) -> Any:
        h, (x, angle, speed, spin) = self.tick_s, (state[k] for k in ("x", "angle", "speed", "spin"))
        pole, lever = hidden["pole_kg"], hidden["lever_m"]
        apart = {"belt", "backlash"} & self.effects
        cart = CART_KG - ROTOR_KG if apart else CART_KG
        friction, state = self._friction(hidden, state)
        aside, down = GRAVITY * jnp.sin(hidden["tilt_rad"]), GRAVITY * jnp.cos(hidden["tilt_rad"])
        m11, m12 = cart + pole, pole * lever * jnp.cos(angle)
        m22 = pole * (INERTIA_PER_KG + lever**2)
        smooth = push - hidden["damping"] * speed + pole * lever * jnp.sin(angle) * spin**2 - friction + m11 * aside
        turn = -pole * lever * down * jnp.sin(angle) + m12 * aside - hidden["hinge_damping"] * spin
        m11 = m11 + h / 2 * hidden["damping"]  # the damping of the mean speed over the tick
        determinant = m11 * m22 - m12**2
        a = (m22 * smooth - m12 * turn) / determinant
        if "lugre" not in self.effects:
            # Dry friction takes what would stop the cart within the tick, up to its limit.
            limit = self._dry_limit(hidden, x)
            stop = jnp.clip((speed / h + a) * determinant / m22, -limit, limit)
            smooth = smooth - stop
            a = (m22 * smooth - m12 * turn) / determinant
        b = (m11 * turn - m12 * smooth) / determinant
        speed, spin = speed + h * a, spin + h * b
        x, angle = x + h * speed, angle + h * spin
        hit = jnp.abs(x) > RAIL_END_M
        x, speed = jnp.clip(x, -RAIL_END_M, RAIL_END_M), jnp.where(hit, 0.0, speed)
        rigid = {} if apart else {"motor": x, "motor_speed": speed}
        return {**state, "x": x, "angle": angle, "speed": speed, "spin": spin, **rigid}

    def _dry_limit(self, hidden: Hidden, x: Any) -> Any:
        if "patches" not in self.effects:
            return hidden["coulomb"]
        return hidden["coulomb"] * (1 + hidden["patch"] * jnp.exp(-(((x - hidden["patch_m"]) / 0.06) ** 2)))

    def _friction(self, hidden: Hidden, state: Any) -> tuple[Any, Any]:
        """Forces with a memory: LuGre's bristles (Canudas de Wit 1995) and a dragged cable (Bouc-Wen)."""
        total, speed, h = jnp.zeros(()), state["speed"], self.tick_s
        if "lugre" in self.effects:
            level = self._dry_limit(hidden, state["x"])
            level = level * (1 + hidden["stribeck"] * jnp.exp(-((speed / 0.05) ** 2)))
            rate = hidden["bristle"] * jnp.abs(speed) / level
            bristle = (state["bristle"] + h * speed) / (1 + h * rate)  # implicit: bristles are stiff
            micro = 2 * jnp.sqrt(hidden["bristle"] * CART_KG) * 0.3
            total = total + hidden["bristle"] * bristle + micro * (bristle - state["bristle"]) / h
            state = {**state, "bristle": bristle}
        if "cable" in self.effects:
            wound = (state["cable"] + h * speed) / (1 + h * jnp.abs(speed) / 0.05)
            total = total + hidden["cable"] * wound
            state = {**state, "cable": wound}
        return total, state
