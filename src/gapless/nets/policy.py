"""A policy as a block: remembered measurements and commands → observation → network → command within the limits."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, GaplessError, Interface, Observation, Params, Signals, unstack


class NetworkPolicy(Block):
    """A feed-forward network over a short history, with the normalisation of its observations inside."""

    interface: Interface = eqx.field(static=True)
    observe: Observation = eqx.field(static=True)
    shift: Float[Array, " observation"]
    scale: Float[Array, " observation"]
    network: eqx.nn.MLP

    def init(self, key: PRNGKeyArray) -> dict[str, Any]:
        frames = {
            name: jnp.zeros((self.observe.memory, self.interface.channel(name).width))
            for name in sorted({f.channel for f in self.observe.features})
        }
        commands = jnp.zeros((self.observe.commands, self.interface.command_width))
        return {"frames": frames, "commands": commands, "begun": jnp.zeros((), bool)}

    def see(self, memory: dict[str, Any], inputs: Signals) -> tuple[dict[str, Any], Float[Array, " observation"]]:
        """Remember a measurement; the memory and the raw observation. The first one fills the whole history."""
        frames = {
            name: jnp.where(memory["begun"], jnp.concatenate([inputs[name][None], past[:-1]]), inputs[name][None])
            for name, past in memory["frames"].items()
        }
        memory = {**memory, "frames": frames, "begun": jnp.ones((), bool)}
        return memory, self.observe.features_of(frames, memory["commands"], self.interface.period_s)

    def centre(self, observation: Float[Array, " observation"]) -> Float[Array, " command"]:
        """The command without exploration, each limit at ±1."""
        normal = jnp.clip((observation - self.shift) * self.scale, -10, 10)
        return jnp.tanh(self.network(normal))

    def send(self, memory: dict[str, Any], unit: Float[Array, " command"]) -> tuple[dict[str, Any], Signals]:
        """Turn a command in ±1 into one within the limits, and remember it."""
        middle, half = command_scale(self.interface)
        values = middle + half * jnp.clip(unit, -1, 1)
        commands = jnp.concatenate([values[None], memory["commands"]])[: self.observe.commands]
        return {**memory, "commands": commands}, unstack(values, self.interface.command_widths)

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        memory, observation = self.see(memory, inputs)
        return self.send(memory, self.centre(observation))


def new_policy(interface: Interface, observe: Observation, hidden: tuple[int, int], key: PRNGKeyArray) -> NetworkPolicy:
    """An untrained policy: `hidden` is the width and the number of its hidden layers."""
    for c in interface.commands:
        if not (np.isfinite(c.low) and np.isfinite(c.high)):
            raise GaplessError(f"command {c.name!r} has no limits, so no policy can be trained. Set low and high.")
    width = observe.width(interface)
    network = eqx.nn.MLP(width, interface.command_width, *hidden, activation=jnp.tanh, key=key)
    network = eqx.tree_at(lambda n: n.layers[-1].weight, network, replace_fn=lambda w: 0.01 * w)
    return NetworkPolicy(interface, observe, jnp.zeros(width), jnp.ones(width), network)


def command_scale(interface: Interface) -> tuple[Float[np.ndarray, " command"], Float[np.ndarray, " command"]]:
    """Middle and half range of all commands, side by side."""
    low, high = (
        np.concatenate([np.full(c.width, getattr(c, side), np.float32) for c in interface.commands])
        for side in ("low", "high")
    )
    return (low + high) / 2, (high - low) / 2
