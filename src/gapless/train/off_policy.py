"""Learning from everything remembered: what FastTD3 and FastSAC have in common.

Follows Seo et al. 2025 (FastTD3, and FastSAC after it): many worlds, large batches, distributional critics, normalised
observations, updates of the policy through its critics. Departures: critics see what only a simulator knows (Pinto et al.
2018), their atoms lie where the rewards seen so far allow returns, and networks and batches are as small as one core likes them.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.normaliser import Normaliser, new_normaliser
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.seeing import SeeingPolicy

from .batches import Batches, Rule
from .critics import Ahead, Critic, critics_loss, followed_by, judged, new_critics, targets
from .distributional import atoms, bounds
from .experience import Sight, known_width
from .in_row import InRow
from .judged import eyes_of, normal, noticed, undoubted
from .learning import HOLD, Learning, Method, Place
from .replay import Replay, Rows, Sampled, inserted, new_replay, sampled
from .squash import is_feed_forward, require_feed_forward


@dataclass(frozen=True)
class OffPolicy(Method):
    """What off-policy methods have in common."""

    worlds: int = 32
    steps: int = 8
    budget: int = 100_000
    updates: int = 32
    """Updates of the policy between two batches of experience."""
    critic_updates: int = 2
    """Updates of the critics for each one of the policy."""
    rows: int = 128
    """Transitions per update."""
    remembered: int = 100_000
    """Control periods over all worlds that the replay keeps."""
    warm_up: int = 2_000
    """Control periods over all worlds with random commands, before the first update."""
    ahead: int = 3
    """Rewards that are summed before a critic's word is taken."""
    hidden: tuple[int, int] = (64, 2)
    """Width and number of the policy's hidden layers."""
    critic_hidden: tuple[int, int] = (64, 2)
    """The same of its critics."""
    atoms: int = 31
    """Places on which critics spread a return's probability."""
    discount: float = 0.985
    """Weight of the next period's reward."""
    rate: float = 1e-3
    """Learning rate."""
    follow: float = 0.02
    """Share of the way that slow critics follow with each update."""
    pessimistic: bool = True
    """Whether the lower of both critics is believed, or each for itself and their mean."""

    def __post_init__(self) -> None:
        if self.remembered < self.per_iteration:
            raise GaplessError(
                f"a replay of {self.remembered} periods does not hold one batch of {self.worlds} worlds × {self.steps} steps. "
                "Let it remember more."
            )

    @property
    def slots(self) -> int:
        """Rows per world in the replay: a multiple of a batch's."""
        return self.remembered // self.per_iteration * self.steps

    @abstractmethod
    def rule(self, place: Place, begin_with: NetworkPolicy | None) -> "OffPolicyRule":
        """How it explores and what it aims at."""

    def takes(self, policy: SeeingPolicy) -> bool:
        return is_feed_forward(policy)

    def learning(self, place: Place, key: PRNGKeyArray, begin_with: SeeingPolicy | None = None) -> Learning:
        rule = self.rule(place, self.going_on(begin_with, NetworkPolicy))
        return Batches(place, self, rule, rule.new(key))


class Learner(NamedTuple):
    """Everything that learning changes."""

    policy: NetworkPolicy
    beside: Any
    """What the policy explores with, where that is learnt, too."""
    critics: Critic
    slow: Critic
    optimizers: tuple[Any, Any]
    observed: Normaliser
    critic_observed: Normaliser
    paid: Float[Array, " 2"]
    """The lowest and the highest reward so far."""
    replay: Replay
    taken: Int[Array, ""]
    """Control periods so far."""


class Choice(NamedTuple):
    """Commands in ±1, and what is added to their value."""

    unit: Float[Array, "row command"]
    bonus: Float[Array, " row"]


class Changing(NamedTuple):
    """What updates change, each in one row."""

    actor: Any
    """The policy's network and what it explores with."""
    critics: Any
    slow: Any
    mover: Any
    """The optimizer of the actor."""
    settler: Any
    """That of the critics."""


class OffPolicyRule(Rule):
    """Critics learn from what is remembered, the policy from its critics."""

    def __init__(self, recipe: OffPolicy, place: Place, begin_with: NetworkPolicy | None) -> None:
        self.recipe, self.place, self.begin_with = recipe, place, begin_with
        interface, observe = place.simulator.interface, place.task.observe
        like = begin_with or new_policy(interface, observe, Shape(recipe.hidden), jax.random.key(0))
        require_feed_forward(like, recipe.word)
        self._adam = optax.adam(recipe.rate)
        beside, self._known = self.beside(jax.random.key(0)), known_width(place)
        self._static = eqx.partition((like, beside), eqx.is_array)[1]
        self._actor, self._judge = InRow((like.network, beside)), InRow(self._new_critics(jax.random.key(0)))
        self._warm_up = recipe.warm_up if begin_with is None else 0
        self._hold = 0 if begin_with is None else HOLD * recipe.budget

    @abstractmethod
    def beside(self, key: PRNGKeyArray) -> Any:
        """What exploration learns, untrained."""

    @abstractmethod
    def explored(self, policy: NetworkPolicy, beside: Any, seen: Any, key: PRNGKeyArray) -> Any:
        """Commands with exploration, over all worlds."""

    @abstractmethod
    def foreseen(self, policy: NetworkPolicy, beside: Any, seen: Any, key: PRNGKeyArray) -> Choice:
        """Commands as critics should expect them to come next."""

    @abstractmethod
    def intended(self, policy: NetworkPolicy, beside: Any, seen: Any, key: PRNGKeyArray) -> Choice:
        """Commands as the policy means them, through which it learns."""

    @abstractmethod
    def settled(self, beside: Any, bonus: Float[Array, " row"]) -> Any:
        """What exploration learns from its own bonuses after an update."""

    def new(self, key: PRNGKeyArray) -> Learner:
        """What learning begins with: untrained, or a policy with fresh critics."""
        keys, r, interface = jax.random.split(key, 3), self.recipe, self.place.simulator.interface
        policy = self.begin_with or new_policy(interface, self.place.task.observe, Shape(r.hidden), keys[0])
        observed = eyes_of(policy, self.begin_with is not None)
        critics, beside = self._new_critics(keys[1]), self.beside(keys[2])
        mover, judge = (self._adam.init(eqx.filter(x, eqx.is_array)) for x in ((policy.network, beside), critics))
        replay = new_replay(r.slots, r.worlds, self._known, interface.command_width)
        return Learner(
            policy, beside, critics, critics, (mover, judge), observed, new_normaliser(self._known), jnp.zeros(2), replay,
            jnp.zeros((), int),
        )  # fmt: skip

    def _new_critics(self, key: PRNGKeyArray) -> Critic:
        sizes = self._known + self.place.simulator.interface.command_width, self.recipe.atoms
        return new_critics(sizes, self.recipe.critic_hidden, key)

    def policy(self, learner: Learner) -> NetworkPolicy:
        return learner.policy

    def weights(self, learner: Learner) -> Any:
        return eqx.partition((learner.policy, learner.beside), eqx.is_array)[0], learner.taken

    def decide(self, weights: Any, memory: Any, sight: Sight, key: PRNGKeyArray) -> tuple[Any, Any, dict[str, Any]]:
        (arrays, taken), keys = weights, jax.random.split(key)
        policy, beside = eqx.combine(arrays, self._static)
        unit = self.explored(policy, beside, sight.observation, keys[0])
        blind = jax.random.uniform(keys[1], unit.shape, minval=-1.0, maxval=1.0)
        return memory, jnp.where(taken < self._warm_up, blind, unit), {}

    def learn(self, learner: Learner, batch: dict[str, Any], key: PRNGKeyArray) -> tuple[Learner, dict[str, Any]]:
        reward, unit = undoubted(batch), jnp.clip(batch["unit"], -1, 1)
        rows = Rows(batch["known"], unit, reward, batch["known_next"], batch["finished"], batch["fresh"])
        learner = noticed(learner, batch["observation"], batch["known"])
        learner = learner._replace(
            policy=learner.policy.with_eyes(learner.observed.shift, learner.observed.scale),
            paid=jnp.stack([jnp.minimum(learner.paid[0], reward.min()), jnp.maximum(learner.paid[1], reward.max())]),
            replay=inserted(learner.replay, rows),
            taken=learner.taken + self.recipe.per_iteration,
        )
        learner, notes = self._updated(learner, key)
        return learner, {"reward": batch["reward"].mean(), **notes}

    def _updated(self, learner: Learner, key: PRNGKeyArray) -> tuple[Learner, dict[str, Any]]:
        """After as many updates as a batch is worth; none while commands are random."""
        actor, judge, (mover, settler) = self._actor, self._judge, learner.optimizers
        begun = Changing(
            actor.flat((learner.policy.network, learner.beside)), judge.flat(learner.critics), judge.flat(learner.slow),
            actor.flat(mover), judge.flat(settler),
        )  # fmt: skip

        def every(changing: Changing) -> Any:
            r, keys = self.recipe, jax.random.split(key)
            shape = r.updates, r.critic_updates, r.rows
            rows = sampled(learner.replay, math.prod(shape), r.ahead, r.discount, keys[0])
            rows = jax.tree.map(lambda x: x.reshape(*shape, *x.shape[1:]), rows)
            each = rows, jax.random.split(keys[1], r.updates)
            changing, notes = jax.lax.scan(lambda c, x: self._update(learner, c, *x), changing, each)
            return changing, jax.tree.map(jnp.mean, notes)

        def none(changing: Changing) -> Any:
            return changing, {name: jnp.full((), jnp.nan) for name in ("surprise", "value")}

        done, notes = jax.lax.cond(learner.taken > self._warm_up, every, none, begun)
        network, beside = actor.shaped(done.actor)
        learner = learner._replace(
            policy=eqx.tree_at(lambda p: p.network, learner.policy, network), beside=beside,
            critics=judge.shaped(done.critics), slow=judge.shaped(done.slow),
            optimizers=(actor.restored(done.mover, mover), judge.restored(done.settler, settler)),
        )  # fmt: skip
        return learner, notes

    def _update(self, learner: Learner, changing: Changing, rows: Sampled, key: PRNGKeyArray) -> Any:
        """Critics a few times, then once the policy."""
        keys = jax.random.split(key, self.recipe.critic_updates + 1)
        network, beside = self._actor.shaped(changing.actor)
        policy = eqx.tree_at(lambda p: p.network, learner.policy, network)
        changing, surprise = jax.lax.scan(
            lambda c, x: self._critics(learner, c, (policy, beside), *x), changing, (rows, keys[1:])
        )
        changing, value = self._policy(learner, changing, rows.known[-1], keys[0])
        return changing, {"surprise": surprise.mean(), "value": value}

    def _critics(
        self, learner: Learner, changing: Changing, actor: tuple[Any, Any], rows: Sampled, key: PRNGKeyArray
    ) -> tuple[Changing, Float[Array, ""]]:
        r, (policy, beside) = self.recipe, actor
        known, after = (self._normal(learner, x) for x in (rows.known, rows.known_next))
        choice = self.foreseen(policy, beside, rows.known_next[:, : len(policy.shift)], key)
        ahead = Ahead(rows.gained / self._unit(learner), rows.weight, after, choice.unit, choice.bonus)
        target = targets(self._judge.shaped(changing.slow), ahead, self._atoms(learner), r.pessimistic)
        loss, grads = jax.value_and_grad(lambda x: critics_loss(self._judge.shaped(x), known, rows.unit, target))(
            changing.critics
        )
        changes, settler = self._adam.update(grads, changing.settler)
        critics = changing.critics + changes
        slow = followed_by(changing.slow, critics, r.follow)
        return changing._replace(critics=critics, slow=slow, settler=settler), loss

    def _policy(self, learner: Learner, changing: Changing, known: Any, key: PRNGKeyArray) -> Any:
        at, usual, critics = self._atoms(learner), self._normal(learner, known), self._judge.shaped(changing.critics)
        seen = known[:, : len(learner.policy.shift)]

        def loss(row: Any) -> Any:
            network, beside = self._actor.shaped(row)
            policy = eqx.tree_at(lambda p: p.network, learner.policy, network)
            choice = self.intended(policy, beside, seen, key)
            value = judged(critics, usual, choice.unit, at, self.recipe.pessimistic)
            return -(value + choice.bonus).mean(), (choice.bonus, value.mean())

        grads, (bonus, value) = jax.grad(loss, has_aux=True)(changing.actor)
        changed: tuple[Any, Any] = self._adam.update(grads, changing.mover)
        moved, mover = changing.actor + (learner.taken >= self._hold) * changed[0], changed[1]
        network, beside = self._actor.shaped(moved)
        return changing._replace(actor=self._actor.flat((network, self.settled(beside, bonus))), mover=mover), value

    def _unit(self, learner: Learner) -> Float[Array, ""]:
        """Values are told in the largest reward so far, whatever the task pays in."""
        return jnp.maximum(jnp.abs(learner.paid).max(), 1e-8)

    def _atoms(self, learner: Learner) -> Float[Array, " atom"]:
        lowest, highest = learner.paid / self._unit(learner)
        return atoms(*bounds(lowest, highest, self.recipe.discount), self.recipe.atoms)

    def _normal(self, learner: Learner, known: Any) -> Any:
        return jnp.clip(normal(learner.critic_observed, known), -10, 10)
