"""A student that sees what the robot measures, taught by a teacher that is told the params of every world.

The teacher is PPO's. The student is taught by dataset aggregation (DAgger, Ross et al. 2011), online and over many worlds at
once as in Chen et al. 2020 ("Learning by cheating") and Lee et al. 2020: it drives, the teacher says at every period what it
would have commanded, and the student minimises the squared difference. Two departures: where Ross et al. keep everything,
only the last batches are kept, because worlds are cheap; and the teacher's part in the driving fades linearly, period by
period. Students with memory learn whole stretches from the memory that they had where these began.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.recall import Kind, Network, Recall, unrolled
from gapless.nets.seeing import SeeingPolicy

from .batches import Batches, Rule
from .descent import fading, orders
from .experience import Sight
from .imitation import Descending, descending, imitate
from .learning import Method, Place
from .phases import Phases, share_of
from .ppo import Ppo
from .privileged import network_of, told_first


@dataclass(frozen=True)
class Distil(Method):
    """Train a teacher that is told the params, then a student that is not."""

    word: ClassVar[str] = "distil"

    teacher: Ppo = field(default_factory=Ppo)
    """How the teacher learns, in our worlds and steps; it is told all that the belief draws, unless it names some."""
    teaching: float = 0.5
    """Share of the budget that goes into the teacher."""
    network: Kind = "gru"
    """The student's network: only one with memory can find out what the teacher is told."""
    hidden: tuple[int, int] = (64, 1)
    """Width and number of the student's hidden layers."""
    leading: float = 0.2
    """Share of the student's time in which the teacher's part in the driving fades from all to nothing."""
    replay: int = 4
    """Batches that the student learns from at a time, the newest and the ones before it."""
    epochs: int = 2
    """Passes over them."""
    minibatches: int = 8
    """Pieces of each pass, each of whole stretches."""
    rate: float = 2e-3
    """Learning rate, which fades over the second half."""

    def __post_init__(self) -> None:
        if self.worlds * self.replay % self.minibatches:
            raise GaplessError(
                f"{self.worlds} worlds × {self.replay} batches do not divide into {self.minibatches} minibatches."
            )
        if self.teacher.network != "mlp":
            raise GaplessError(
                f"a teacher is told what others must remember, and has no memory: its network cannot be "
                f"{self.teacher.network!r}. Choose 'mlp'."
            )

    def takes(self, policy: SeeingPolicy) -> bool:
        return isinstance(policy, NetworkPolicy) and not policy.told

    def learning(self, place: Place, key: PRNGKeyArray, begin_with: SeeingPolicy | None = None) -> Phases:
        keys = jax.random.split(key)
        length, left = share_of(self.budget, self.teaching, self.per_iteration)
        first = told_first(self.teacher, self, place, length, keys[0])
        student = replace(self, budget=left * self.per_iteration)
        rule = DistilRule(student, place, network_of(first), self.going_on(begin_with, NetworkPolicy))
        return Phases(first, Batches(place, student, rule, rule.new(keys[1])), length, rule.taught_by)

    def taught(
        self, place: Place, teacher: NetworkPolicy, key: PRNGKeyArray, begin_with: NetworkPolicy | None = None
    ) -> Batches:
        """A student of a teacher that is already there; the whole budget is the student's."""
        rule = DistilRule(self, place, teacher, begin_with)
        return Batches(place, self, rule, rule.new(key))


class Stretches(NamedTuple):
    """Control periods as the student saw them, a row per world, with what the teacher would have done."""

    seen: Float[Array, "*row step seen"]
    """Observations, normalised."""
    label: Float[Array, "*row step command"]
    fresh: Bool[Array, "*row step"]
    memory: Any
    """What the student remembered before the first period."""


class Learner(NamedTuple):
    """Everything that an update changes, and the teacher."""

    student: NetworkPolicy
    optimizer: Any
    teacher: NetworkPolicy
    kept: Stretches
    """The last batches, newest first."""
    taken: Float[Array, ""]
    """Share of the budget learnt from so far."""


class DistilRule(Rule):
    """The student and less and less the teacher drive; the teacher's commands are what the student is to find."""

    def __init__(self, recipe: Distil, place: Place, teacher: NetworkPolicy, begin_with: NetworkPolicy | None) -> None:
        self.recipe, self._place, self._begin_with = recipe, place, begin_with
        self._first_teacher = teacher
        student = begin_with or self._untaught(jax.random.key(0))
        _require_teachable(student, teacher)
        self._static = eqx.partition((student, teacher), eqx.is_array)[1]

    def new(self, key: PRNGKeyArray) -> Learner:
        """What learning begins with: an untaught student, or the one that goes on."""
        r, student = self.recipe, self._begin_with or self._untaught(key)
        memory = student.init(key).get("hidden", ())
        rows, width = (r.replay, r.worlds), student.interface.command_width
        kept = Stretches(
            seen=jnp.zeros((*rows, r.steps, len(student.shift))),
            label=jnp.zeros((*rows, r.steps, width)),
            fresh=jnp.zeros((*rows, r.steps), bool),
            memory=jax.tree.map(lambda x: jnp.zeros((*rows, *x.shape), x.dtype), memory),
        )
        optimizer = descending(student.network).optimizer
        return self.taught_by(
            Learner(student, optimizer, self._first_teacher, kept, jnp.zeros(())), self._first_teacher
        )

    def taught_by(self, learner: Learner, teacher: NetworkPolicy) -> Learner:
        """The same with this teacher; a new student normalises what both of them see as the teacher does."""
        student, seen = learner.student, len(learner.student.shift)
        if self._begin_with is None:
            student = student.with_eyes(teacher.shift[:seen], teacher.scale[:seen])
        return learner._replace(student=student, teacher=teacher)

    def policy(self, learner: Learner) -> NetworkPolicy:
        return learner.student

    def weights(self, learner: Learner) -> Any:
        leads = jnp.clip(1 - learner.taken / max(self.recipe.leading, 1e-9), 0, 1)
        return eqx.partition((learner.student, learner.teacher), eqx.is_array)[0], leads

    def decide(self, weights: Any, memory: Any, sight: Sight, key: PRNGKeyArray) -> tuple[Any, Any, dict[str, Any]]:
        student, teacher = eqx.combine(weights[0], self._static)
        before = memory.get("hidden", ())
        memory, mine = jax.vmap(student.think)(memory, sight.observation)
        told = jax.vmap(teacher.with_told)(sight.observation, sight.params)
        label = jax.vmap(lambda seen: teacher.think({}, seen)[1])(told)
        leads = jax.random.bernoulli(key, weights[1], (len(mine), 1))
        noted = {"label": label, "hidden": before, "normal": jax.vmap(student.normal)(sight.observation)}
        return memory, jnp.where(leads, label, mine), noted

    def learn(self, learner: Learner, batch: dict[str, Any], key: PRNGKeyArray) -> tuple[Learner, dict[str, Any]]:
        r, kept = self.recipe, _keep(learner, batch)
        rows = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), kept)

        def loss(network: Network, piece: Any) -> Float[Array, ""]:
            return difference(network, jax.tree.map(lambda x: x[piece], rows))

        now = Descending(learner.student.network, learner.optimizer)
        pieces = orders(r.replay * r.worlds, r.epochs, r.minibatches, key)
        now, losses = imitate(now, loss, pieces, r.rate * fading(learner.taken))
        student = eqx.tree_at(lambda p: p.network, learner.student, now.network)
        taken = learner.taken + r.per_iteration / r.budget
        notes = {"reward": batch["reward"].mean(), "difference": losses[-r.minibatches :].mean()}
        return Learner(student, now.optimizer, learner.teacher, kept, taken), notes

    def _untaught(self, key: PRNGKeyArray) -> NetworkPolicy:
        shape = Shape(self.recipe.hidden, self.recipe.network)
        return new_policy(self._place.simulator.interface, self._place.task.observe, shape, key)


def difference(network: Network, rows: Stretches) -> Float[Array, ""]:
    """The mean square between the student's commands and the teacher's, each limit at ±1."""
    seen, fresh = (jnp.swapaxes(x, 0, 1) for x in (rows.seen, rows.fresh))
    if isinstance(network, Recall):
        answer = unrolled(network, rows.memory, seen, fresh)
    else:
        answer = jax.vmap(jax.vmap(network))(seen)
    return ((jnp.tanh(answer) - jnp.swapaxes(rows.label, 0, 1)) ** 2).mean()


def _keep(learner: Learner, batch: dict[str, Any]) -> Stretches:
    """The new batch before the ones that were kept; the very first one stands for all that are not there yet."""
    memory = jax.tree.map(lambda x: x[0], batch["hidden"])
    seen, label, fresh = (jnp.swapaxes(batch[k], 0, 1) for k in ("normal", "label", "fresh"))
    newest, first = Stretches(seen, label, fresh, memory), learner.taken == 0
    return jax.tree.map(
        lambda x, old: jnp.concatenate([x[None], jnp.where(first, x[None], old[:-1])]), newest, learner.kept
    )


def _require_teachable(student: NetworkPolicy, teacher: NetworkPolicy) -> None:
    if student.told:
        raise GaplessError(f"a student is told nothing, and this one is told {student.told[0]!r}. Begin with another.")
    if isinstance(teacher.network, Recall):
        raise GaplessError("a teacher is told what others must remember, and this one has memory. Take one without.")
    if student.observe != teacher.observe:
        raise GaplessError("student and teacher must observe alike, apart from what a teacher is told. Train one anew.")
