"""Policies that are made to be changed by a few episodes of their own, and what they keep for that."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Interface, Observation

from .policy import NetworkPolicy
from .recall import advance
from .seeing import SeeingPolicy


class ByGradient(eqx.Module):
    """What one gradient step needs: how to explore for it, how far each weight goes, and what an action was worth."""

    log_noise: Float[Array, " command"]
    """Logarithm of the deviation of commands while it finds out."""
    rates: Any
    """The step of each weight per unit of its gradient, shaped like the network's arrays."""
    offset: Any
    """What is added to each weight whatever was seen, shaped like the network's arrays."""
    judge: eqx.nn.MLP | None
    """What an action was worth by what was seen before and after it; without one, rewards say."""


class BySteps(eqx.Module):
    """What hill climbing needs: the steps to try, one after the other."""

    steps: Any
    """Shaped like the network's arrays with one more axis in front."""

    @property
    def count(self) -> int:
        """How many steps there are."""
        return len(jax.tree.leaves(self.steps)[0])


Manner = ByGradient | BySteps


class Teachable(SeeingPolicy):
    """A feed-forward policy and the manner in which episodes change it; where that explores, it does so given a key."""

    interface: Interface = eqx.field(static=True)
    observe: Observation = eqx.field(static=True)
    shift: Float[Array, " seen"]
    scale: Float[Array, " seen"]
    network: eqx.nn.MLP
    manner: Manner
    told: tuple[str, ...] = eqx.field(static=True, default=())

    def hidden(self) -> dict[str, Any]:
        return {}

    def think(
        self, memory: dict[str, Any], seen: Float[Array, " seen"], key: PRNGKeyArray | None = None
    ) -> tuple[dict[str, Any], Float[Array, " command"]]:
        centre = jnp.tanh(advance(self.network, (), self.normal(seen))[1])
        if key is None or not isinstance(self.manner, ByGradient):
            return memory, centre
        return memory, centre + jnp.exp(self.manner.log_noise) * jax.random.normal(key, centre.shape)

    def settled(self, network: eqx.nn.MLP) -> NetworkPolicy:
        """The policy that is left once this network is the one to keep: nothing in it explores or changes any more."""
        return NetworkPolicy(self.interface, self.observe, self.shift, self.scale, network)


def by_gradient(policy: NetworkPolicy, noise: float, rate: float, judge: eqx.nn.MLP | None = None) -> Teachable:
    """A policy that a gradient step changes: all weights at one rate, and without an offset."""
    arrays = eqx.filter(policy.network, eqx.is_array)
    log_noise = jnp.full((policy.interface.command_width,), jnp.log(noise))
    manner = ByGradient(
        log_noise, jax.tree.map(lambda x: jnp.full_like(x, rate), arrays), jax.tree.map(jnp.zeros_like, arrays), judge
    )
    return _teachable(policy, manner)


def by_steps(policy: NetworkPolicy, count: int, reach: float, key: PRNGKeyArray) -> Teachable:
    """A policy that tries `count` steps, each drawn with this deviation."""
    leaves, structure = jax.tree.flatten(eqx.filter(policy.network, eqx.is_array))
    keys = jax.random.split(key, len(leaves))
    drawn = [reach * jax.random.normal(k, (count, *x.shape)) for k, x in zip(keys, leaves, strict=True)]
    return _teachable(policy, BySteps(structure.unflatten(drawn)))


def moved(network: eqx.nn.MLP, change: Any) -> eqx.nn.MLP:
    """A network with a change of its arrays added to them."""
    return eqx.apply_updates(network, change)


def _teachable(policy: NetworkPolicy, manner: Manner) -> Teachable:
    assert isinstance(policy.network, eqx.nn.MLP)
    return Teachable(policy.interface, policy.observe, policy.shift, policy.scale, policy.network, manner)
