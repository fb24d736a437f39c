"""Policies that are made to be changed by a few episodes of their own, and what they keep for that."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Interface, Observation

from .policy import NetworkPolicy, Shape, new_policy
from .recall import advance
from .seeing import SeeingPolicy


class ByGradient(eqx.Module):
    """What one gradient step needs: how to explore for it, how far each weight goes, and what an action was worth."""

    log_noise: Float[Array, " command"]
    """Logarithm of the deviation of commands while it finds out."""
    log_rates: Any
    """Logarithm of the step of each weight per unit of its gradient, shaped like the network's arrays."""
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


@dataclass(frozen=True)
class TeachableShape:
    """What a policy looks like that episodes change."""

    hidden: tuple[int, int] = (64, 2)
    """Width and number of its hidden layers."""
    steps: int = 0
    """Steps that it tries; none where gradients change it."""
    judge: int = 0
    """Hidden units of its judge; none where rewards judge, or steps are tried."""


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
        return NetworkPolicy(self.interface, self.observe, *(self.shift, self.scale), network=network)


def by_gradient(policy: NetworkPolicy, judge: int, key: PRNGKeyArray) -> Teachable:
    """A policy that a gradient step will change: at rates of one, judged by a fresh network of so many units, or by rewards."""
    arrays = eqx.filter(policy.network, eqx.is_array)
    seen = len(policy.shift)
    width = policy.interface.command_width
    network = eqx.nn.MLP(2 * seen + width, 1, judge, 1, activation=jnp.tanh, key=key) if judge else None
    manner = ByGradient(
        jnp.zeros(width), jax.tree.map(jnp.zeros_like, arrays), jax.tree.map(jnp.zeros_like, arrays), network
    )
    return _teachable(policy, manner)


def by_steps(policy: NetworkPolicy, count: int, key: PRNGKeyArray) -> Teachable:
    """A policy that will try `count` steps, each drawn with a deviation of one."""
    leaves, structure = jax.tree.flatten(eqx.filter(policy.network, eqx.is_array))
    keys = jax.random.split(key, len(leaves))
    drawn = [jax.random.normal(k, (count, *x.shape)) for k, x in zip(keys, leaves, strict=True)]
    return _teachable(policy, BySteps(structure.unflatten(drawn)))


def new_teachable(interface: Interface, observe: Observation, shape: TeachableShape, key: PRNGKeyArray) -> Teachable:
    """An untrained policy of this shape."""
    keys = jax.random.split(key)
    policy = new_policy(interface, observe, Shape(shape.hidden), keys[0])
    return by_steps(policy, shape.steps, keys[1]) if shape.steps else by_gradient(policy, shape.judge, keys[1])


def teachable_shape_of(policy: Teachable) -> TeachableShape:
    """The shape with which `new_teachable` makes a policy like this one."""
    hidden, manner = (policy.network.width_size, policy.network.depth), policy.manner
    if isinstance(manner, BySteps):
        return TeachableShape(hidden, steps=manner.count)
    return TeachableShape(hidden, judge=0 if manner.judge is None else manner.judge.width_size)


def moved(network: eqx.nn.MLP, change: Any) -> eqx.nn.MLP:
    """A network with a change of its arrays added to them."""
    return eqx.apply_updates(network, change)


def _teachable(policy: NetworkPolicy, manner: Manner) -> Teachable:
    assert isinstance(policy.network, eqx.nn.MLP)
    eyes = policy.shift, policy.scale
    return Teachable(policy.interface, policy.observe, *eyes, network=policy.network, manner=manner)
