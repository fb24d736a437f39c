"""A policy as a block: remembered measurements and commands → observation → network → command within the limits."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError, Interface, Observation

from .latent import LATENT, Adapting, Encoded, new_adapting, new_encoded
from .recall import Attention, Gru, Kind, Lstm, Network, Recall, advance, blank, faint, kind_of, new_network
from .seeing import SeeingPolicy, command_scale, require_limits

__all__ = ["NetworkPolicy", "Shape", "command_scale", "new_policy", "shape_of"]


class NetworkPolicy(SeeingPolicy):
    """A network over a short history, or with a memory of its own, with the normalisation of what it sees inside."""

    interface: Interface = eqx.field(static=True)
    observe: Observation = eqx.field(static=True)
    shift: Float[Array, " seen"]
    scale: Float[Array, " seen"]
    network: Network | Encoded
    told: tuple[str, ...] = eqx.field(static=True, default=())
    """Params that it is told beside what the robot measures; a policy that leaves the simulator is told none."""

    def hidden(self) -> dict[str, Any]:
        return {"hidden": blank(self.network)} if isinstance(self.network, Recall) else {}

    def think(
        self, memory: dict[str, Any], seen: Float[Array, " seen"], key: PRNGKeyArray | None = None
    ) -> tuple[dict[str, Any], Float[Array, " command"]]:
        """What it remembers then, and the command without exploration, each limit at ±1."""
        hidden, answer = advance(self.network, memory.get("hidden", ()), self.normal(seen))
        return memory | ({"hidden": hidden} if "hidden" in memory else {}), jnp.tanh(answer)


@dataclass(frozen=True)
class Shape:
    """What a policy's network looks like."""

    hidden: tuple[int, int] = (64, 2)
    """Width and number of its hidden layers."""
    kind: Kind = "mlp"
    """Feed-forward, with memory, or on a latent of the world."""
    told: tuple[str, ...] = ()
    """Params that it is told."""
    latent: int = LATENT
    """Numbers in its latent, where it has one."""


def new_policy(interface: Interface, observe: Observation, shape: Shape, key: PRNGKeyArray) -> NetworkPolicy:
    """An untrained policy, whose first commands are near the middle of their ranges."""
    require_limits(interface)
    seen, told, answer = observe.width(interface), len(shape.told), interface.command_width
    match shape.kind:
        case "encoded":
            network = new_encoded((seen, told, shape.latent, answer), shape.hidden, key)
        case "adapting":
            network = new_adapting((seen + told, shape.latent, answer), shape.hidden, key)
        case kind:
            network = new_network(kind, (seen + told, answer), shape.hidden, key)
    usual = jnp.zeros(seen + told), jnp.ones(seen + told)
    return NetworkPolicy(interface, observe, *usual, network=faint(network), told=shape.told)


def shape_of(policy: NetworkPolicy) -> Shape:
    """The shape with which `new_policy` makes a policy like this one."""
    network, latent = policy.network, LATENT
    match network:
        case eqx.nn.MLP():
            hidden = network.width_size, network.depth
        case Encoded() | Adapting():
            hidden = network.trunk.width_size, network.trunk.depth
            latent = int((network.encoder if isinstance(network, Encoded) else network.guess).out_size)
        case Attention():
            hidden = network.ages.shape[1], len(network.layers)
        case Gru() | Lstm():
            hidden = int(network.out.in_features), 1
        case _:
            raise GaplessError(
                f"a network of the class {type(network).__name__} has no shape. Build it with new_policy."
            )
    return Shape(hidden, kind_of(network), policy.told, latent)
