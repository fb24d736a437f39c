"""A policy as a block: remembered measurements and commands → observation → network → command within the limits."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, GaplessError, Interface, Observation, Params, Signals, unstack

from .latent import Adapting, Encoded, new_adapting, new_encoded
from .recall import Attention, Gru, Kind, Lstm, Network, Recall, advance, blank, faint, kind_of, new_network


class NetworkPolicy(Block):
    """A network over a short history, or with a memory of its own, with the normalisation of what it sees inside."""

    interface: Interface = eqx.field(static=True)
    observe: Observation = eqx.field(static=True)
    shift: Float[Array, " seen"]
    scale: Float[Array, " seen"]
    network: Network | Encoded
    told: tuple[str, ...] = eqx.field(static=True, default=())
    """Params that it is told beside what the robot measures; a policy that leaves the simulator is told none."""

    def init(self, key: PRNGKeyArray) -> dict[str, Any]:
        frames = {
            name: jnp.zeros((self.observe.memory, self.interface.channel(name).width))
            for name in sorted({f.channel for f in self.observe.features})
        }
        commands = jnp.zeros((self.observe.commands, self.interface.command_width))
        remembered = {"hidden": blank(self.network)} if isinstance(self.network, Recall) else {}
        return {"frames": frames, "commands": commands, "begun": jnp.zeros((), bool), **remembered}

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

    def normal(self, seen: Float[Array, " seen"]) -> Float[Array, " seen"]:
        """What it sees in deviations from what is usual, ten at most."""
        return jnp.clip((seen - self.shift) * self.scale, -10, 10)

    def think(
        self, memory: dict[str, Any], seen: Float[Array, " seen"]
    ) -> tuple[dict[str, Any], Float[Array, " command"]]:
        """What it remembers then, and the command without exploration, each limit at ±1."""
        hidden, answer = advance(self.network, memory.get("hidden", ()), self.normal(seen))
        return memory | ({"hidden": hidden} if "hidden" in memory else {}), jnp.tanh(answer)

    def send(self, memory: dict[str, Any], unit: Float[Array, " command"]) -> tuple[dict[str, Any], Signals]:
        """Turn a command in ±1 into one within the limits, and remember it."""
        middle, half = command_scale(self.interface)
        values = middle + half * jnp.clip(unit, -1, 1)
        commands = jnp.concatenate([values[None], memory["commands"]])[: self.observe.commands]
        return {**memory, "commands": commands}, unstack(values, self.interface.command_widths)

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        memory, observation = self.see(memory, inputs)
        return self.send(*self.think(memory, self.with_told(observation, params)))


@dataclass(frozen=True)
class Shape:
    """What a policy's network looks like."""

    hidden: tuple[int, int] = (64, 2)
    """Width and number of its hidden layers."""
    kind: Kind = "mlp"
    """Feed-forward, with memory, or on a latent of the world."""
    told: tuple[str, ...] = ()
    """Params that it is told."""


def new_policy(interface: Interface, observe: Observation, shape: Shape, key: PRNGKeyArray) -> NetworkPolicy:
    """An untrained policy, whose first commands are near the middle of their ranges."""
    for c in interface.commands:
        if not (np.isfinite(c.low) and np.isfinite(c.high)):
            raise GaplessError(f"command {c.name!r} has no limits, so no policy can be trained. Set low and high.")
    seen, told, answer = observe.width(interface), len(shape.told), interface.command_width
    match shape.kind:
        case "encoded":
            network = new_encoded((seen, told, answer), shape.hidden, key)
        case "adapting":
            network = new_adapting((seen + told, answer), shape.hidden, key)
        case kind:
            network = new_network(kind, (seen + told, answer), shape.hidden, key)
    return NetworkPolicy(interface, observe, jnp.zeros(seen + told), jnp.ones(seen + told), faint(network), shape.told)


def shape_of(policy: NetworkPolicy) -> Shape:
    """The shape with which `new_policy` makes a policy like this one."""
    network = policy.network
    match network:
        case eqx.nn.MLP():
            hidden = network.width_size, network.depth
        case Encoded() | Adapting():
            hidden = network.trunk.width_size, network.trunk.depth
        case Attention():
            hidden = network.ages.shape[1], len(network.layers)
        case Gru() | Lstm():
            hidden = int(network.out.in_features), 1
        case _:
            raise GaplessError(
                f"a network of the class {type(network).__name__} has no shape. Build it with new_policy."
            )
    return Shape(hidden, kind_of(network), policy.told)


def command_scale(interface: Interface) -> tuple[Float[np.ndarray, " command"], Float[np.ndarray, " command"]]:
    """Middle and half range of all commands, side by side."""
    low, high = (
        np.concatenate([np.full(c.width, getattr(c, side), np.float32) for c in interface.commands])
        for side in ("low", "high")
    )
    return (low + high) / 2, (high - low) / 2
