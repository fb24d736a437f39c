"""From a command that leaves the host to the force that a joint feels, with everything a data sheet leaves out of it."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

QUEUE = 6
"""Commands under way at most."""
STIFF = 8000.0
"""Stiffness of a transmission with play but without give, per unit of `inertia` at 0.5."""

Hidden = dict[str, Any]
Memory = dict[str, Any]
Force = Float[Array, " joint"]

NAMED = ("lugre", "backlash", "jitter")
UNNAMED = ("belt", "cogging", "cable", "warming", "firmware")


@dataclass(frozen=True)
class Drivetrain:
    """Motors of one kind on several joints. Lengths are metres on a rail and radians on a hinge."""

    joints: int
    most: float
    """Largest command, in V."""
    rotor: tuple[float, ...]
    """Inertia of each motor as its joint feels it; it is a part of the joint's own unless belt or backlash part them."""
    inertia: tuple[float, ...]
    """Typical inertia of what each motor moves, for the bristles' own damping."""
    cog: float
    """Distance from one cog to the next."""
    creep: float
    """Speed at which friction has fallen from its breakaway value."""
    drag: float
    """Distance over which a dragged cable winds up."""

    def fresh(self, position: Float[Array, " joint"]) -> Memory:
        """At rest, nothing under way."""
        zero = jnp.zeros(self.joints)
        return {
            "motor": position, "motor_speed": zero, "bristle": zero, "cable": zero, "heat": zero, "volts": zero,
            "time": jnp.zeros(()), "queue": jnp.zeros((QUEUE, self.joints)), "arrival": jnp.full((QUEUE,), -1.0),
        }  # fmt: skip

    def send(self, hidden: Hidden, memory: Memory, volts: Array, effects: frozenset[str], key: PRNGKeyArray) -> Memory:
        """A command leaves the host now and arrives later; a queue keeps its order."""
        delay = hidden["latency_s"]
        if "jitter" in effects:
            delay = delay + hidden["jitter_s"] * jax.random.uniform(key, minval=-1.0, maxval=1.0)
        arrival = jnp.maximum(memory["time"] + delay, memory["arrival"][0])
        value = jnp.clip(volts, -self.most, self.most)
        return {
            **memory,
            "queue": jnp.concatenate([value[None], memory["queue"][:-1]]),
            "arrival": jnp.concatenate([arrival[None], memory["arrival"][:-1]]),
        }

    def push(
        self, hidden: Hidden, memory: Memory, moving: tuple[Array, Array], effects: frozenset[str], tick_s: float
    ) -> tuple[Force, Memory]:
        """The motors' force on the joints, whose positions and speeds are `moving`."""
        memory = self._electronics(hidden, memory, effects, tick_s)
        force = hidden["gain"] * memory["volts"] * (1 - 0.15 * memory["heat"])
        if "cogging" in effects:
            force = force + hidden["cogging"] * jnp.sin(2 * jnp.pi * memory["motor"] / self.cog)
        if not self.parted(effects):
            position, speed = moving
            return force, {**memory, "motor": position, "motor_speed": speed}
        return self._transmission(hidden, memory, moving, force, effects, tick_s)

    def drags(
        self, hidden: Hidden, memory: Memory, speed: Array, level: Array, effects: frozenset[str], tick_s: float
    ) -> tuple[Force, Memory]:
        """Friction with a memory: LuGre's bristles (Canudas de Wit 1995) and a dragged cable (Bouc-Wen)."""
        total = jnp.zeros(self.joints)
        if "lugre" in effects:
            most = level * (1 + hidden["stribeck"] * jnp.exp(-((speed / self.creep) ** 2)))
            rate = hidden["bristle"] * jnp.abs(speed) / most
            bristle = (memory["bristle"] + tick_s * speed) / (1 + tick_s * rate)  # implicit: bristles are stiff
            micro = 2 * jnp.sqrt(hidden["bristle"] * jnp.asarray(self.inertia)) * 0.3
            total = total + hidden["bristle"] * bristle + micro * (bristle - memory["bristle"]) / tick_s
            memory = {**memory, "bristle": bristle}
        if "cable" in effects:
            wound = (memory["cable"] + tick_s * speed) / (1 + tick_s * jnp.abs(speed) / self.drag)
            total = total + hidden["cable"] * wound
            memory = {**memory, "cable": wound}
        return total, memory

    @staticmethod
    def parted(effects: frozenset[str]) -> bool:
        """Whether the motors have a motion of their own."""
        return bool({"belt", "backlash"} & effects)

    def _electronics(self, hidden: Hidden, memory: Memory, effects: frozenset[str], tick_s: float) -> Memory:
        arrived = memory["arrival"] <= memory["time"] + 0.5 * tick_s
        wanted = jnp.where(arrived.any(), memory["queue"][jnp.argmax(arrived)], 0.0)
        if "firmware" in effects:
            wanted = jnp.where(jnp.abs(wanted) < hidden["dead_band"], 0.0, wanted)
            most = hidden["slew"] * tick_s
            wanted = jnp.clip(wanted, memory["volts"] - most, memory["volts"] + most)
        heat = memory["heat"]
        if "warming" in effects:
            load = jnp.minimum(jnp.abs(wanted) / (0.3 * self.most), 1.0)
            heat = heat + tick_s / hidden["warming_s"] * (load - heat)
        return {**memory, "volts": wanted, "heat": heat, "time": memory["time"] + tick_s}

    def _transmission(
        self, hidden: Hidden, memory: Memory, moving: tuple[Array, Array], force: Array,
        effects: frozenset[str], tick_s: float,
    ) -> tuple[Force, Memory]:  # fmt: skip
        """What belt and backlash pass on from motors with a motion of their own."""
        rotor = jnp.asarray(self.rotor)
        stretch, slip = memory["motor"] - moving[0], memory["motor_speed"] - moving[1]
        stiffness = hidden["belt"] if "belt" in effects else STIFF * jnp.asarray(self.inertia) / 0.5
        half_gap = hidden["gap"] / 2 if "backlash" in effects else 0.0
        bite = jnp.sign(stretch) * jnp.maximum(jnp.abs(stretch) - half_gap, 0.0)
        damping = 2 * 0.15 * jnp.sqrt(stiffness * rotor)
        passed = stiffness * bite + damping * slip * (jnp.abs(stretch) > half_gap)
        speed = memory["motor_speed"] + tick_s * (force - passed) / rotor
        return passed, {**memory, "motor_speed": speed, "motor": memory["motor"] + tick_s * speed}
