"""A universal policy: one that is told the params of its world, so that what it is told becomes a strategy to choose."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Belief, GaplessError, Gaussian, Params, Signals
from gapless.nets.policy import NetworkPolicy
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import Rollout

from ..learning import Place
from ..ppo import Ppo
from ..train import train
from .adaptation import Means

WORLDS = 16
"""Episodes in which it is seen what a policy makes of what it is told."""


def universal(place: Place, over: Belief, means: Means) -> NetworkPolicy:
    """A policy trained by PPO over these params and told all of them, by the recipe's budget where that has another way."""
    m = means.recipe.method
    method = m if isinstance(m, Ppo) else Ppo(worlds=m.worlds, steps=m.steps, budget=m.budget)
    recipe = replace(means.recipe, method=replace(method, network="mlp", told=over.names))
    found = train(place.simulator, over, place.task, recipe, means.key, means.along("universal"))
    return told_policy(found.policy)


def told_policy(policy: SeeingPolicy) -> NetworkPolicy:
    """The same policy; raises unless it is a network that is told something."""
    if not isinstance(policy, NetworkPolicy) or not policy.told:
        raise GaplessError("only a policy that is told params has strategies to choose from. Train a universal one.")
    return policy


def directions(
    policy: NetworkPolicy, place: Place, over: Gaussian, count: int, key: PRNGKeyArray
) -> Float[np.ndarray, "count param"]:
    """The directions of what is told, in whitened params and each of length 1, that change the policy's commands most."""
    size = len(over.names)
    if size <= count:
        return np.eye(size)
    keys = jax.random.split(key)
    params = {k: np.asarray(v, np.float64) for k, v in over.sample(keys[0], WORLDS).items()}
    episodes = Rollout(place.simulator.with_worlds(WORLDS), place.task).run(policy, params, keys[1])
    seen = {k: jnp.asarray(np.swapaxes(v, 0, 1), jnp.float32) for k, v in episodes.measurements.items()}
    told = jnp.stack([jnp.asarray(params[k], jnp.float32) for k in over.names], axis=-1)
    felt = jax.vmap(lambda t, s: _felt(policy, over, t, s))(told, seen)
    matters = np.asarray(felt.sum(0), np.float64)
    return np.linalg.eigh(matters)[1].T[::-1][:count]


def _felt(
    policy: NetworkPolicy, over: Gaussian, told: Float[Array, " param"], seen: Signals
) -> Float[Array, "param param"]:
    """The summed outer products of the commands' gradients in whitened params, over one episode as it was seen."""
    root = jnp.asarray(over.root, jnp.float32)

    def unit(
        z: Float[Array, " param"], memory: dict, observation: Float[Array, " observation"]
    ) -> Float[Array, " command"]:
        params: Params = dict(zip(over.names, told + root @ z, strict=True))
        return policy.think(memory, policy.with_told(observation, params))[1]

    def step(memory: dict, inputs: Signals) -> tuple[dict, Float[Array, "param param"]]:
        memory, observation = policy.see(memory, inputs)
        zero = jnp.zeros(len(over.names))
        gradient = jax.jacfwd(unit)(zero, memory, observation)
        return policy.send(memory, unit(zero, memory, observation))[0], gradient.T @ gradient

    return jax.lax.scan(step, policy.init(jax.random.key(0)), seen)[1].sum(0)
