"""The outer loop by evolution strategies: policies, and steps for them to try, that are worth most once climbed in one world.

Follows Song et al. 2020 (ES-MAML) with hill climbing as the adaptation: nothing is differentiated, so that rewards may jump and
policies need no exploration. Departure: the steps that hill climbing tries are learnt beside the policy, where the paper draws
them anew each time; a handful of episodes then suffices. They begin as drawn ones.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.nets.normaliser import Normaliser, update
from gapless.nets.teachable import BySteps, Teachable

from ..descent import ADAM, fading
from ..judged import eyes_of
from ..learning import Place
from .climbing import climbed, members, uphill
from .trials import Actors, Rows, Trials, everywhere, quiet, spread

NARROW = 16
"""Inputs of a layer whose weights move as far as they are told."""


@dataclass(frozen=True)
class Evolution:
    """How a policy learns to be climbed from."""

    pairs: int = 64
    """Antithetic pairs in an iteration."""
    tasks: int = 2
    """Worlds, each with a draw of the params, in which a pair is compared."""
    after: int = 1
    """Episodes in each world after climbing."""
    iterations: int = 60
    """Updates in all."""
    deviation: float = 0.1
    """Deviation of the pairs, in a layer of up to sixteen inputs; weights of wider ones move less, as their sum is felt."""
    rate: float = 0.05
    """Learning rate, which fades over the second half."""
    reach: float = 0.6
    """Deviation of the steps before they are learnt, likewise."""


class Learner(NamedTuple):
    """Everything that an iteration changes."""

    policy: Teachable
    observed: Normaliser
    optimizer: Any
    taken: Float[Array, ""]
    """Share of the iterations so far."""


class LearnsByEvolution:
    """Iterations of the outer loop in a place; the policy's steps are shares of the recipe's reach."""

    def __init__(self, place: Place, recipe: Evolution, policy: Teachable, trained: bool) -> None:
        self.place, self.recipe = place, recipe
        network, steps = arrays_of(policy)
        shares = shares_of(network, steps)
        policy = with_arrays(policy, network, jax.tree.map(lambda x, s: recipe.reach * s * x, steps, shares[1]))
        like = policy.settled(policy.network)
        worlds = 2 * recipe.pairs * recipe.tasks
        self._trials = Trials(place, worlds, like, 2)
        self._shares, self._unravel = ravel_pytree(shares)
        optimizer = ADAM.init(self._shares)
        self.learner = Learner(policy, eyes_of(like, trained), optimizer, jnp.zeros(()))
        self._drawn, self._risen = eqx.filter_jit(self._draw), eqx.filter_jit(self._rise)

    @property
    def policy(self) -> Teachable:
        """The policy as it is now."""
        return self.learner.policy

    def iterate(self, key: PRNGKeyArray) -> dict[str, float]:
        """One update; what episodes were worth before and after climbing."""
        keys = jax.random.split(key)
        noise, arrays, params = self._drawn(self.policy, keys[0])
        first, worth = self._climbed(arrays, params, keys[1])
        self.learner = self._risen(self.learner, noise, worth, first.seen)
        return {"before": float(first.returns.mean()), "after": float(worth.mean())}

    def value(self, key: PRNGKeyArray) -> float:
        """What the policy is worth once climbed; the same worlds for the same key."""
        keys, worlds = jax.random.split(key), self._trials.worlds
        params = self.place.belief.sample(keys[0], worlds)
        return float(self._climbed(everywhere(arrays_of(self.policy), worlds), params, keys[1])[1].mean())

    def _climbed(self, arrays: tuple[Any, Any], params: Any, key: PRNGKeyArray) -> tuple[Rows, Float[Array, " world"]]:
        """The first episode in each world, and what episodes after climbing were worth there."""
        keys = jax.random.split(key, 1 + self.recipe.after)
        episodes: list[Rows] = []

        def valued(networks: Any, episode: int) -> Float[Array, " world"]:
            episodes.append(self._run(networks, params, jax.random.fold_in(keys[0], episode)))
            return episodes[-1].returns

        networks = climbed(*arrays, valued)
        return episodes[0], jnp.mean(jnp.stack([self._run(networks, params, k).returns for k in keys[1:]]), axis=0)

    def _run(self, networks: Any, params: Any, key: PRNGKeyArray) -> Rows:
        actors = Actors(networks, self.policy.shift, self.policy.scale, quiet(self.policy))
        return self._trials.run(actors, params, key)

    def _draw(self, policy: Teachable, key: PRNGKeyArray) -> Any:
        """The noise of all pairs, the arrays of all members world by world, and the worlds' params."""
        keys, r = jax.random.split(key), self.recipe
        centre = ravel_pytree(arrays_of(policy))[0]
        noise = jax.random.normal(keys[0], (r.pairs, len(centre)))
        every = spread(jax.vmap(self._unravel)(members(centre, self._shares * noise, r.deviation)), r.tasks)
        params = self.place.belief.sample(keys[1], r.pairs * r.tasks)
        return noise, every, jax.tree.map(lambda x: jnp.tile(x, 2), params)

    def _rise(self, learner: Learner, noise: Any, worth: Float[Array, " world"], seen: Any) -> Learner:
        """One step uphill; worths in deviations, so that rates mean the same whatever the task pays."""
        r, policy = self.recipe, learner.policy
        above, below = worth.reshape(2, r.pairs, r.tasks).mean(-1)
        slope = uphill(noise, above, below, r.deviation) / (jnp.std(above - below) + 1e-8)
        updated: tuple[Any, Any] = ADAM.update(-slope, learner.optimizer)
        changes, optimizer = updated
        centre = ravel_pytree(arrays_of(policy))[0] - r.rate * fading(learner.taken) * self._shares * changes
        network, steps = self._unravel(centre)
        observed = update(learner.observed, seen.reshape(-1, seen.shape[-1]))
        policy = with_arrays(policy, network, steps).with_eyes(observed.shift, observed.scale)
        return Learner(policy, observed, optimizer, learner.taken + 1 / r.iterations)


def arrays_of(policy: Teachable) -> tuple[Any, Any]:
    """What evolution changes: the arrays of its network, and its steps."""
    assert isinstance(policy.manner, BySteps)
    return eqx.filter(policy.network, eqx.is_array), policy.manner.steps


def shares_of(network: Any, steps: Any) -> tuple[Any, Any]:
    """How far each array moves, of what the first layer's do: shaped like a network's arrays, and like its steps."""

    def share(x: Array) -> float:
        return min(1.0, np.sqrt(NARROW / x.shape[-1])) if x.ndim == 2 else 1.0

    alone = jax.tree.map(lambda x: jnp.full(x.shape, share(x)), network)
    return alone, jax.tree.map(lambda x, s: jnp.full(s.shape, share(x)), network, steps)


def with_arrays(policy: Teachable, network: Any, steps: Any) -> Teachable:
    """The same policy with these arrays."""
    whole = eqx.combine(network, eqx.filter(policy.network, eqx.is_array, inverse=True))
    return eqx.tree_at(lambda p: (p.network, p.manner), policy, (whole, BySteps(steps)))
