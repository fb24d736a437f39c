"""The outer loop by gradients: policies whose inner step, taken in one world, makes them worth most there.

Goes over each batch several times with clipped ratios (Rothfuss et al. 2019), where Finn et al. 2017 take one step of TRPO;
derivatives of the inner step are exact. A guide is followed at first, where there is one (`lessons.py`).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Params
from gapless.nets.normaliser import Normaliser, update
from gapless.nets.policy import NetworkPolicy
from gapless.nets.teachable import ByGradient, Teachable

from ..descent import ADAM, fading
from ..judged import eyes_of
from ..learning import Place
from .inner import Lived, lived, taught
from .lessons import Lesson, Trained, by_guide, by_rewards, guided
from .trials import Actors, Rows, Trials, everywhere, normal, quiet, spread, together


@dataclass(frozen=True)
class Gradients:
    """How a policy learns to learn by gradients."""

    tasks: int = 32
    """Worlds in an iteration, each with a draw of the params."""
    after: int = 2
    """Episodes in each world after the inner step."""
    iterations: int = 300
    """Batches in all."""
    epochs: int = 4
    """Gradient steps with each batch."""
    rate: float = 6e-3
    """Learning rate of the outer loop, which fades over its second half."""
    inner_rate: float = 30.0
    """Rate of the inner step before it is learnt. Where it is too small, what is best on average is learnt first and stays;
    where it is too large, every step ends at the limits of the commands, and nothing is learnt."""
    noise: float = 0.7
    """Deviation of the first exploration, as a share of half the command range."""
    least_noise: float = 0.3
    """Below this, exploration after the inner step does not fall: what is learnt first would be all that is ever tried."""
    guided: float = 0.0
    """Share of the iterations that follow a guide, who is told the params and trained first; rewards lead on from there."""
    clip: float = 0.2
    """How far a probability ratio may pay."""
    discount: float = 0.985
    """Weight of the next period's reward."""


class Learner(NamedTuple):
    """Everything that an iteration changes."""

    policy: Teachable
    log_noise: Float[Array, " command"]
    """Of the exploration after the inner step, which only training needs."""
    observed: Normaliser
    optimizer: Any
    taken: Float[Array, ""]
    """Share of the iterations so far."""


class LearnsByGradient:
    """Iterations of the outer loop in a place; `episodes` in each world come before the inner step.

    The policy's rates and exploration are shares of the recipe's. A guide is told the params of each world.
    """

    def __init__(
        self, place: Place, recipe: Gradients, episodes: int, policy: Teachable, trained: bool,
        guide: NetworkPolicy | None = None,
    ) -> None:  # fmt: skip
        self.place, self.recipe, self.episodes, self._guide = place, recipe, episodes, guide
        policy = _scaled(policy, recipe)
        like = policy.settled(policy.network)
        self._before = Trials(place, recipe.tasks * episodes, like)
        self._after = Trials(place, recipe.tasks * recipe.after, like)
        explores = manner_of(policy).log_noise
        log_noise = explores if guide is None else jnp.full_like(explores, jnp.log(recipe.least_noise))
        optimizer = ADAM.init(eqx.filter((policy.network, policy.manner, log_noise), eqx.is_array))
        self.learner = Learner(policy, log_noise, eyes_of(like, trained), optimizer, jnp.zeros(()))
        self._inner, self._guided = eqx.filter_jit(self._teach), eqx.filter_jit(guided)
        self._outer, self._followed = eqx.filter_jit(self._learn), eqx.filter_jit(self._follow)

    @property
    def policy(self) -> Teachable:
        """The policy as it is now."""
        return self.learner.policy

    def iterate(self, key: PRNGKeyArray) -> dict[str, float]:
        """One batch; what its episodes were worth before and after the inner step."""
        before, after, params = self._both(key, self.learner.log_noise)
        if self._guide is not None and float(self.learner.taken) < self.recipe.guided:
            labels = self._guided(self._guide, params, after.seen)
            self.learner = self._followed(self.learner, before, after, labels)
        else:
            self.learner = self._outer(self.learner, before, after)
        return {"before": float(before.returns.mean()), "after": float(after.returns.mean())}

    def value(self, key: PRNGKeyArray) -> float:
        """What the policy is worth after an inner step, without exploration; the same worlds for the same key."""
        return float(self._both(key, quiet(self.policy))[1].returns.mean())

    def _both(self, key: PRNGKeyArray, log_noise: Float[Array, " command"]) -> tuple[Rows, Rows, Params]:
        """Episodes before and after inner steps, as (task, episode, step, …), and the tasks; the later ones explore as told."""
        keys, r, policy = jax.random.split(key, 3), self.recipe, self.policy
        params = self.place.belief.sample(keys[0], r.tasks)
        before = together(explored(self._before, policy, spread(params, self.episodes), keys[1]), self.episodes)
        actors = Actors(spread(self._inner(policy, before), r.after), policy.shift, policy.scale, log_noise)
        return before, together(self._after.run(actors, spread(params, r.after), keys[2]), r.after), params

    def _teach(self, policy: Teachable, before: Rows) -> Any:
        """The arrays of each task's network after its inner step."""
        return jax.vmap(lambda rows: eqx.filter(taught_by(policy, rows, self.recipe.discount), eqx.is_array))(before)

    def _learn(self, learner: Learner, before: Rows, after: Rows) -> Learner:
        """One batch learnt from by what was paid in it."""
        pasts, futures = _lived(learner.policy, before, after)
        lesson = by_rewards(_trained(learner), pasts, futures, self.recipe.discount, self.recipe.clip)
        return self._learnt(learner, before, lesson)

    def _follow(self, learner: Learner, before: Rows, after: Rows, labels: Array) -> Learner:
        """One batch learnt from by what the guide would have done in it."""
        pasts, futures = _lived(learner.policy, before, after)
        return self._learnt(learner, before, by_guide(labels, pasts, futures, self.recipe.discount))

    def _learnt(self, learner: Learner, before: Rows, lesson: Lesson) -> Learner:
        """The learner after one lesson."""
        r = self.recipe
        trained, optimizer = _climbed(_trained(learner), learner, lesson, r)
        policy = eqx.tree_at(lambda p: (p.network, p.manner), learner.policy, trained[:2])
        observed = update(learner.observed, before.seen.reshape(-1, before.seen.shape[-1]))
        policy = policy.with_eyes(observed.shift, observed.scale)
        log_noise = jnp.maximum(trained[2], jnp.log(r.least_noise))
        return Learner(policy, log_noise, observed, optimizer, learner.taken + 1 / r.iterations)


def _trained(learner: Learner) -> Trained:
    return learner.policy.network, manner_of(learner.policy), learner.log_noise


def _lived(policy: Teachable, before: Rows, after: Rows) -> tuple[Lived, Rows]:
    """Episodes before and after the inner steps, as the network sees them."""
    return jax.vmap(lambda rows: lived_by(policy, rows))(before), normal(policy, after)


def _scaled(policy: Teachable, recipe: Gradients) -> Teachable:
    manner = manner_of(policy)
    rates = jax.tree.map(lambda x: x + jnp.log(recipe.inner_rate), manner.log_rates)
    log_noise = manner.log_noise + jnp.log(recipe.noise)
    return eqx.tree_at(lambda p: (p.manner.log_rates, p.manner.log_noise), policy, (rates, log_noise))


def _climbed(trained: Trained, learner: Learner, lesson: Lesson, recipe: Gradients) -> tuple[Trained, Any]:
    """What is trained after all steps with one batch, and the optimizer."""
    arrays, static = eqx.partition(trained, eqx.is_array)

    def loss(arrays: Any) -> Float[Array, ""]:
        return lesson(eqx.combine(arrays, static))

    def step(held: Any, _: None) -> Any:
        arrays, optimizer = held
        changes, optimizer = ADAM.update(jax.grad(loss)(arrays), optimizer)
        rate = recipe.rate * fading(learner.taken)
        return (optax.apply_updates(arrays, jax.tree.map(lambda c: -rate * c, changes)), optimizer), None

    (arrays, optimizer), _ = jax.lax.scan(step, (arrays, learner.optimizer), None, length=recipe.epochs)
    return eqx.combine(arrays, static), optimizer


def explored(trials: Trials, policy: Teachable, params: Any, key: PRNGKeyArray) -> Rows:
    """Episodes of a policy that finds out what world it is in."""
    networks = everywhere(eqx.filter(policy.network, eqx.is_array), trials.worlds)
    return trials.run(Actors(networks, policy.shift, policy.scale, manner_of(policy).log_noise), params, key)


def lived_by(policy: Teachable, rows: Rows) -> Lived:
    """Its episodes in one world, as the inner step wants them."""
    return lived(policy.network, manner_of(policy).log_noise, normal(policy, rows))


def taught_by(policy: Teachable, rows: Rows, discount: float) -> eqx.nn.MLP:
    """Its network after the inner step on its episodes in one world."""
    return taught(policy.network, manner_of(policy), lived_by(policy, rows), discount)


def manner_of(policy: Teachable) -> ByGradient:
    """How gradients change it."""
    assert isinstance(policy.manner, ByGradient)
    return policy.manner
