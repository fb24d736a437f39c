"""What the machines on our bench share, whatever their equations: motors, encoders, and how their hidden numbers are drawn."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Signals

from .drivetrain import NAMED, UNNAMED, Drivetrain
from .reality import Hidden, Reality


class Bench(Reality):
    """A machine with a drivetrain, and a noisy encoder for each channel."""

    tick_s = 0.001
    named = NAMED
    unnamed = (*UNNAMED, "patches")
    drivetrain: ClassVar[Drivetrain]

    def send(self, hidden: Hidden, state: Any, command: Signals, key: PRNGKeyArray) -> Any:
        volts = jnp.concatenate([jnp.asarray(command[name]).reshape(1) for name in self.interface.command_names])
        return {**state, "drive": self.drivetrain.send(hidden, state["drive"], volts, self.effects, key)}

    def measure(self, hidden: Hidden, state: Any, key: PRNGKeyArray) -> Signals:
        noise = jax.random.normal(key, (len(self.interface.measurements),)) * jnp.asarray(hidden["noise"])
        seen = self.read(state) + noise
        return {c.name: seen[i : i + 1] for i, c in enumerate(self.interface.measurements)}

    def read(self, state: Any) -> Float[Array, " channel"]:
        """What noiseless sensors would answer, channel by channel."""
        return state["position"]


class Ranges:
    """Draws from ranges, one after the other."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def between(self, low: float, high: float) -> float:
        """A number."""
        return float(self._rng.uniform(low, high))

    def both(self, low: float, high: float) -> Float[np.ndarray, "2"]:
        """One for each of two joints."""
        return self._rng.uniform(low, high, 2)


def placed(state: Any, joints: tuple[str, ...], start: Signals, parts: tuple[str, str] = ("position", "speed")) -> Any:
    """The state with these joints where `start` has them; its `parts` hold their positions and their speeds."""
    for part, side in zip(parts, ("position", "velocity"), strict=True):
        given = [start.get(f"{joint}.{side}") for joint in joints]
        values = [state[part][i] if v is None else jnp.asarray(v)[..., 0] for i, v in enumerate(given)]
        state = {**state, part: jnp.stack(values)}
    return state


def told(state: Any, joints: tuple[str, ...], parts: tuple[str, str] = ("position", "speed")) -> Signals:
    """Where these joints are and how fast they move."""
    sides = zip(parts, ("position", "velocity"), strict=True)
    return {f"{joint}.{side}": state[part][i][None] for part, side in sides for i, joint in enumerate(joints)}
