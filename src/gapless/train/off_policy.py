"""Learning from everything remembered: what FastTD3 and FastSAC have in common.

Follows Seo et al. 2025 (FastTD3, and FastSAC after it): many worlds, large batches, distributional critics, normalised
observations, updates of the policy through its critics. Departures: critics see what only a simulator knows (Pinto et al.
2018), their atoms lie where the rewards seen so far allow returns, and networks and batches are as small as one core likes them.
"""

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
from .judged import eyes_of, normal, noticed, undoubted
from .learning import HOLD, Learning, Method, Place
from .replay import Replay, Rows, inserted, new_replay, sampled
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


class OffPolicyRule(Rule):
    """Critics learn from what is remembered, the policy from its critics."""

    def __init__(self, recipe: OffPolicy, place: Place, begin_with: NetworkPolicy | None) -> None:
        self.recipe, self.place, self.begin_with = recipe, place, begin_with
        interface, observe = place.simulator.interface, place.task.observe
        like = begin_with or new_policy(interface, observe, Shape(recipe.hidden), jax.random.key(0))
        require_feed_forward(like, recipe.word)
        self._adam = optax.adam(recipe.rate)
        self._static = eqx.partition((like, self.beside(jax.random.key(0))), eqx.is_array)[1]
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
        known = known_width(self.place)
        critics = new_critics((known + interface.command_width, r.atoms), r.critic_hidden, keys[1])
        beside = self.beside(keys[2])
        mover, judge = (self._adam.init(eqx.filter(x, eqx.is_array)) for x in ((policy.network, beside), critics))
        replay = new_replay(r.slots, r.worlds, known, interface.command_width)
        return Learner(
            policy, beside, critics, critics, (mover, judge), observed, new_normaliser(known), jnp.zeros(2), replay,
            jnp.zeros((), int),
        )  # fmt: skip

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
        changing = (learner.policy.network, learner.beside, learner.critics, learner.slow, learner.optimizers)
        arrays, static = eqx.partition(changing, eqx.is_array)

        def one(arrays: Any, key: PRNGKeyArray) -> Any:
            changed, notes = self._update(learner, eqx.combine(arrays, static), key)
            return eqx.partition(changed, eqx.is_array)[0], notes

        def every(arrays: Any) -> Any:
            arrays, notes = jax.lax.scan(one, arrays, jax.random.split(key, self.recipe.updates))
            return arrays, jax.tree.map(jnp.mean, notes)

        def none(arrays: Any) -> Any:
            return arrays, {name: jnp.full((), jnp.nan) for name in ("surprise", "value")}

        arrays, notes = jax.lax.cond(learner.taken > self._warm_up, every, none, arrays)
        network, beside, critics, slow, optimizers = eqx.combine(arrays, static)
        policy = eqx.tree_at(lambda p: p.network, learner.policy, network)
        return learner._replace(policy=policy, beside=beside, critics=critics, slow=slow, optimizers=optimizers), notes

    def _update(self, learner: Learner, changing: Any, key: PRNGKeyArray) -> Any:
        """Critics a few times, then once the policy."""
        network, beside, critics, slow, (mover, judge) = changing
        keys, r = jax.random.split(key), self.recipe
        policy = eqx.tree_at(lambda p: p.network, learner.policy, network)
        arrays, static = eqx.partition((critics, slow, judge), eqx.is_array)

        def one(arrays: Any, key: PRNGKeyArray) -> Any:
            changed, *found = self._critics(learner, (policy, beside, *eqx.combine(arrays, static)), key)
            return eqx.partition(changed, eqx.is_array)[0], found

        arrays, (known, surprise) = jax.lax.scan(one, arrays, jax.random.split(keys[0], r.critic_updates))
        critics, slow, judge = eqx.combine(arrays, static)
        (network, beside), mover, value = self._policy(learner, (network, beside, critics, mover), known[-1], keys[1])
        return (network, beside, critics, slow, (mover, judge)), {"surprise": surprise.mean(), "value": value}

    def _critics(self, learner: Learner, changing: Any, key: PRNGKeyArray) -> Any:
        r, (policy, beside, critics, slow, state) = self.recipe, changing
        keys = jax.random.split(key)
        rows = sampled(learner.replay, r.rows, r.ahead, r.discount, keys[0])
        known, after = (self._normal(learner, x) for x in (rows.known, rows.known_next))
        choice = self.foreseen(policy, beside, rows.known_next[:, : len(policy.shift)], keys[1])
        ahead = Ahead(rows.gained / self._unit(learner), rows.weight, after, choice.unit, choice.bonus)
        target = targets(slow, ahead, self._atoms(learner), r.pessimistic)
        loss, grads = eqx.filter_value_and_grad(critics_loss)(critics, known, rows.unit, target)
        changes, state = self._adam.update(grads, state, eqx.filter(critics, eqx.is_array))
        critics = eqx.apply_updates(critics, changes)
        return (critics, followed_by(slow, critics, r.follow), state), rows.known, loss

    def _policy(self, learner: Learner, changing: Any, known: Any, key: PRNGKeyArray) -> Any:
        network, beside, critics, state = changing
        at, usual = self._atoms(learner), self._normal(learner, known)
        seen = known[:, : len(learner.policy.shift)]

        def loss(moved: Any) -> Any:
            policy = eqx.tree_at(lambda p: p.network, learner.policy, moved[0])
            choice = self.intended(policy, moved[1], seen, key)
            value = judged(critics, usual, choice.unit, at, self.recipe.pessimistic)
            return -(value + choice.bonus).mean(), (choice.bonus, value.mean())

        grads, (bonus, value) = eqx.filter_grad(loss, has_aux=True)((network, beside))
        changes, state = self._adam.update(grads, state, eqx.filter((network, beside), eqx.is_array))
        moving = learner.taken >= self._hold
        network, beside = eqx.apply_updates((network, beside), jax.tree.map(lambda c: moving * c, changes))
        return (network, self.settled(beside, bonus)), state, value

    def _unit(self, learner: Learner) -> Float[Array, ""]:
        """Values are told in the largest reward so far, whatever the task pays in."""
        return jnp.maximum(jnp.abs(learner.paid).max(), 1e-8)

    def _atoms(self, learner: Learner) -> Float[Array, " atom"]:
        lowest, highest = learner.paid / self._unit(learner)
        return atoms(*bounds(lowest, highest, self.recipe.discount), self.recipe.atoms)

    def _normal(self, learner: Learner, known: Any) -> Any:
        return jnp.clip(normal(learner.critic_observed, known), -10, 10)
