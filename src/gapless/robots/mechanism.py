"""Hidden physics of two joints, some of them driven: what cart-pole, rotary pendulum and planar arm have in common."""

import math
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Signals

from .bench import Bench, placed, told
from .reality import Hidden

SWEEPS = 4
"""Rounds in which two dry joints settle how much of each one's friction is used."""
Pair = Float[Array, "2"]


class Equations(NamedTuple):
    """M a = force at one instant, dampers and motors left out."""

    mass: Float[Array, "2 2"]
    force: Pair


class Mechanism(Bench):
    """Lagrange's equations of two joints; dry friction takes what would stop a joint within the tick, up to its limit.

    The first joints are the driven ones.
    """

    stops: ClassVar[tuple[float, float]] = (math.inf, math.inf)
    """How far each joint goes to either side."""

    @abstractmethod
    def equations(self, hidden: Hidden, position: Pair, speed: Pair) -> Equations:
        """Inertia, gravity and inertial forces; rotors included unless the motors are parted from the joints."""

    @abstractmethod
    def damping(self, hidden: Hidden) -> Pair:
        """Viscous friction of both joints."""

    @abstractmethod
    def dry(self, hidden: Hidden, state: Any) -> Pair:
        """The largest dry friction of both joints, here and now."""

    @abstractmethod
    def begin(self, key: PRNGKeyArray) -> Pair:
        """Where the joints are at the start of an episode."""

    def start(self, hidden: Hidden, key: PRNGKeyArray) -> Any:
        position = self.begin(key)
        return {"position": position, "speed": jnp.zeros(2), "drive": self.drivetrain.fresh(position[: self._driven])}

    def place(self, state: Any, start: Signals) -> Any:
        state = placed(state, self.joints[:2], start)
        motor = {"motor": state["position"][: self._driven], "motor_speed": state["speed"][: self._driven]}
        return {**state, "drive": {**state["drive"], **motor}}

    def joint_states(self, state: Any) -> Signals:
        return told(state, self.joints[:2])

    def tick(self, hidden: Hidden, state: Any) -> Any:
        state, torque = self._driven_by(hidden, state)
        return self._moved(state, self._freed(hidden, state, torque)[0])

    def weighed(self, mass: Any, parted_mass: Any) -> Any:
        """The one if the motors move with their joints, the other if they do not."""
        return parted_mass if self.drivetrain.parted(self.effects) else mass

    @property
    def _driven(self) -> int:
        return self.drivetrain.joints

    def _driven_by(self, hidden: Hidden, state: Any) -> tuple[Any, Pair]:
        """What motors, cables and bristles do to both joints."""
        n, effects, speed = self._driven, self.effects, state["speed"]
        moving = (state["position"][:n], speed[:n])
        push, drive = self.drivetrain.push(hidden, state["drive"], moving, effects, self.tick_s)
        level = self.dry(hidden, state)[:n]
        drag, drive = self.drivetrain.drags(hidden, drive, speed[:n], level, effects, self.tick_s)
        return {**state, "drive": drive}, jnp.zeros(2).at[:n].set(push - drag)

    def _freed(self, hidden: Hidden, state: Any, torque: Pair) -> tuple[Pair, Float[Array, "2 2"]]:
        """Speeds a tick later under these torques, and how they answer to an impulse."""
        h, speed, damping = self.tick_s, state["speed"], self.damping(hidden)
        mass, force = self.equations(hidden, state["position"], speed)
        inverse = inverse_of(mass + h / 2 * jnp.diag(damping))  # the damping of the mean speed over the tick
        free = speed + h * inverse @ (force + torque - damping * speed)
        limit = jnp.zeros(2) if "lugre" in self.effects else self.dry(hidden, state)
        return free - inverse @ self._stuck(inverse, free, h * limit), inverse

    def _moved(self, state: Any, speed: Pair) -> Any:
        position, ends = state["position"] + self.tick_s * speed, jnp.asarray(self.stops)
        speed = jnp.where(jnp.abs(position) > ends, 0.0, speed)
        return {**state, "position": jnp.clip(position, -ends, ends), "speed": speed}

    def _stuck(self, inverse: Float[Array, "2 2"], free: Pair, most: Pair) -> Pair:
        """Impulses of dry friction, found joint by joint (projected Gauss-Seidel); one dry joint needs one round."""
        used = [jnp.zeros(()), jnp.zeros(())]
        for _ in range(1 if self._driven == 1 else SWEEPS):
            for i in range(self._driven):
                speed = free[i] - inverse[i, 0] * used[0] - inverse[i, 1] * used[1]
                used[i] = jnp.clip(used[i] + speed / inverse[i, i], -most[i], most[i])
        return jnp.stack(used)


def inverse_of(matrix: Float[Array, "2 2"]) -> Float[Array, "2 2"]:
    """Written out: a library call per world and tick would cost more than all the rest."""
    (a, b), (c, d) = matrix
    return jnp.array([[d, -b], [-c, a]]) / (a * d - b * c)
