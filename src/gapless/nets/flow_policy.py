"""A policy that draws: noise flows along a learned velocity field, in a few steps, to a command that suits what is seen.

Where a Gaussian has one centre, such a policy can have several, and none between them (conditional flow matching: Lipman et
al. 2023; straight paths: Liu et al. 2023).
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Interface, Observation

from .recall import faint, new_network
from .seeing import SeeingPolicy, require_limits


class FlowPolicy(SeeingPolicy):
    """A velocity field over commands, given what is seen and the time from 0, noise, to 1, a command."""

    interface: Interface = eqx.field(static=True)
    observe: Observation = eqx.field(static=True)
    shift: Float[Array, " seen"]
    scale: Float[Array, " seen"]
    network: eqx.nn.MLP
    steps: int = eqx.field(static=True, default=8)
    """Euler steps from noise to a command."""
    noise: float = eqx.field(static=True, default=0.5)
    """Deviation of the noise, as a share of half the command range."""
    sampled: bool = eqx.field(static=True, default=True)
    """Whether a step draws its noise; else it is zero, and the same is done whenever the same is seen."""
    told: tuple[str, ...] = eqx.field(static=True, default=())
    """Params that it is told beside what the robot measures; a policy that leaves the simulator is told none."""

    def hidden(self) -> dict[str, Any]:
        return {}

    def think(
        self, memory: dict[str, Any], seen: Float[Array, " seen"], key: PRNGKeyArray | None = None
    ) -> tuple[dict[str, Any], Float[Array, " command"]]:
        """The same memory, and the command that noise flows to, each limit at ±1; without a key, the noise is zero."""
        zero = jnp.zeros(self.interface.command_width)
        begin = zero if key is None or not self.sampled else self.noise * jax.random.normal(key, zero.shape)
        return memory, self.command(seen, begin)

    def command(self, seen: Float[Array, " seen"], begin: Float[Array, " command"]) -> Float[Array, " command"]:
        """Where the flow takes the noise `begin`, cut off at ±1."""
        normal = self.normal(seen)
        times = jnp.arange(self.steps) / self.steps

        def step(at: Any, time: Any) -> Any:
            return at + velocity(self.network, normal, at, time) / self.steps, None

        return jnp.clip(jax.lax.scan(step, begin, times)[0], -1, 1)


@dataclass(frozen=True)
class FlowShape:
    """What a flow policy looks like."""

    hidden: tuple[int, int] = (64, 2)
    """Width and number of its network's hidden layers."""
    steps: int = 8
    """Euler steps from noise to a command."""
    noise: float = 0.5
    """Deviation of the noise, as a share of half the command range."""
    sampled: bool = True
    """Whether a step draws its noise; else it is zero."""
    told: tuple[str, ...] = ()
    """Params that it is told."""


def velocity(
    network: eqx.nn.MLP, normal: Float[Array, " seen"], at: Float[Array, " command"], time: Float[Array, ""]
) -> Float[Array, " command"]:
    """Of a command on its way, per unit of time, given what is seen."""
    return network(jnp.concatenate([normal, at, jnp.reshape(time, 1)]))


def new_flow(interface: Interface, observe: Observation, shape: FlowShape, key: PRNGKeyArray) -> FlowPolicy:
    """An untrained policy, whose commands are nearly the noise itself."""
    require_limits(interface)
    width, commands = observe.width(interface) + len(shape.told), interface.command_width
    network = faint(new_network("mlp", (width + commands + 1, commands), shape.hidden, key))
    assert isinstance(network, eqx.nn.MLP)
    return FlowPolicy(
        interface, observe, jnp.zeros(width), jnp.ones(width), told=shape.told,
        network=network, steps=shape.steps, noise=shape.noise, sampled=shape.sampled,
    )  # fmt: skip


def flow_shape_of(policy: FlowPolicy) -> FlowShape:
    """The shape with which `new_flow` makes a policy like this one."""
    network = policy.network
    hidden = network.width_size, network.depth
    return FlowShape(hidden, policy.steps, policy.noise, policy.sampled, policy.told)
