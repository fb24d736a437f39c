"""What all policies share: remembered measurements become an observation, and a command in ±1 becomes one within limits."""

from abc import abstractmethod
from typing import Any, Self

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, GaplessError, Interface, Observation, Params, Signals, unstack


class SeeingPolicy(Block):
    """A policy with the normalisation of what it sees inside; how it decides is a subclass's own affair."""

    interface: eqx.AbstractVar[Interface]
    observe: eqx.AbstractVar[Observation]
    shift: eqx.AbstractVar[Float[Array, " seen"]]
    scale: eqx.AbstractVar[Float[Array, " seen"]]
    told: eqx.AbstractVar[tuple[str, ...]]

    @abstractmethod
    def hidden(self) -> dict[str, Any]:
        """What it remembers beside measurements and commands, before the first step."""

    @abstractmethod
    def think(
        self, memory: dict[str, Any], seen: Float[Array, " seen"], key: PRNGKeyArray | None = None
    ) -> tuple[dict[str, Any], Float[Array, " command"]]:
        """What it remembers then, and the command, each limit at ±1; without a key, nothing in it is left to chance."""

    def init(self, key: PRNGKeyArray) -> dict[str, Any]:
        frames = {
            name: jnp.zeros((self.observe.memory, self.interface.channel(name).width))
            for name in sorted({f.channel for f in self.observe.features})
        }
        commands = jnp.zeros((self.observe.commands, self.interface.command_width))
        return {"frames": frames, "commands": commands, "begun": jnp.zeros((), bool), **self.hidden()}

    def see(self, memory: dict[str, Any], inputs: Signals) -> tuple[dict[str, Any], Float[Array, " observation"]]:
        """Remember a measurement; the memory and the raw observation. The first one fills the whole history."""
        frames = {
            name: jnp.where(memory["begun"], jnp.concatenate([inputs[name][None], past[:-1]]), inputs[name][None])
            for name, past in memory["frames"].items()
        }
        memory = {**memory, "frames": frames, "begun": jnp.ones((), bool)}
        return memory, self.observe.features_of(frames, memory["commands"], self.interface.period_s)

    def with_told(self, observation: Float[Array, " observation"], params: Params) -> Float[Array, " seen"]:
        """All that the network sees: the observation, and the params that it is told."""
        unknown = [name for name in self.told if name not in params]
        if unknown:
            raise GaplessError(
                f"this policy for {self.interface.robot!r} must be told {unknown[0]!r}, which no robot says. Distil it into a "
                "student that sees measurements only."
            )
        return jnp.concatenate([observation, *(jnp.reshape(params[name], 1) for name in self.told)])

    def with_eyes(self, shift: Float[Array, " seen"], scale: Float[Array, " seen"]) -> Self:
        """The same policy with another normalisation."""
        return eqx.tree_at(lambda p: (p.shift, p.scale), self, (shift, scale))

    def normal(self, seen: Float[Array, " seen"]) -> Float[Array, " seen"]:
        """What is seen, in deviations from what is usual, at most ten."""
        return jnp.clip((seen - self.shift) * self.scale, -10, 10)

    def send(self, memory: dict[str, Any], unit: Float[Array, " command"]) -> tuple[dict[str, Any], Signals]:
        """Turn a command in ±1 into one within the limits, and remember it."""
        middle, half = command_scale(self.interface)
        values = middle + half * jnp.clip(unit, -1, 1)
        commands = jnp.concatenate([values[None], memory["commands"]])[: self.observe.commands]
        return {**memory, "commands": commands}, unstack(values, self.interface.command_widths)

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        memory, observation = self.see(memory, inputs)
        return self.send(*self.think(memory, self.with_told(observation, params), key))


def command_scale(interface: Interface) -> tuple[Float[np.ndarray, " command"], Float[np.ndarray, " command"]]:
    """Middle and half range of all commands, side by side."""
    low, high = (
        np.concatenate([np.full(c.width, getattr(c, side), np.float32) for c in interface.commands])
        for side in ("low", "high")
    )
    return (low + high) / 2, (high - low) / 2


def require_limits(interface: Interface) -> None:
    """Raise unless every command has limits, which ±1 stands for."""
    for c in interface.commands:
        if not (np.isfinite(c.low) and np.isfinite(c.high)):
            raise GaplessError(f"command {c.name!r} has no limits, so no policy can be trained. Set low and high.")
