"""Learning a batch at a time: drive the worlds, let a rule change the learner, again; all of it compiled where that can be."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gapless.nets.seeing import SeeingPolicy

from .experience import Experience, Held, Sight, known_names, strong
from .learning import Learning, Method, Place
from .learnt import Learnt, learnt_of, put_back

LARGE = 1024
"""Control periods per batch from which on driving and learning are compiled apart: a call more costs nothing then, and what
learns is compiled once for all simulators. Smaller batches are compiled whole, many at a time."""


class Rule(ABC):
    """How a policy acts while it learns, and what a batch changes. Pure: all that changes is in the learner."""

    @abstractmethod
    def weights(self, learner: Any) -> Any:
        """The arrays by which `decide` acts during a batch."""

    @abstractmethod
    def decide(self, weights: Any, memory: Any, sight: Sight, key: PRNGKeyArray) -> tuple[Any, Any, dict[str, Any]]:
        """Over all worlds: the memories, commands in ±1, and what `learn` wants to know of them."""

    @abstractmethod
    def learn(self, learner: Any, batch: dict[str, Any], key: PRNGKeyArray) -> tuple[Any, dict[str, Any]]:
        """The learner after a batch, and figures to show."""

    @abstractmethod
    def policy(self, learner: Any) -> SeeingPolicy:
        """The policy that has been learnt so far."""


class Criticized(Rule):
    """A rule whose critic goes along with the policy, for whoever trains it further."""

    beside: ClassVar[tuple[str, ...]]
    """Fields of the learner that do: the critic, and what was learnt with it."""

    @abstractmethod
    def new(self, key: PRNGKeyArray, told: int | None = None) -> Any:
        """What learning begins with: untrained, or a policy with a fresh critic, which is held for as long as `hold` says.

        The critic is told what the place knows, or so many numbers.
        """


class Batches(Learning):
    """A rule at work in a place."""

    def __init__(self, place: Place, method: Method, rule: Rule, learner: Any) -> None:
        self._place, self._method, self._rule = place, method, rule
        self.learner, self.steps_done = strong(learner), 0
        self._experience = Experience(place, method.worlds, rule.policy(learner), rule.decide)
        self._learn = eqx.filter_jit(rule.learn)
        self._traced = eqx.filter_jit(self._scan)
        self._held: Held | None = None

    @property
    def policy(self) -> SeeingPolicy:
        return self._rule.policy(self.learner)

    def begin(self, key: PRNGKeyArray, place: Place | None = None) -> None:
        self._held = self._experience.begin(self._rule.weights(self.learner), key, place)

    def iterate(self, key: PRNGKeyArray, times: int = 1) -> dict[str, float]:
        if self._held is None:
            begins, key = jax.random.split(key)
            self.begin(begins)
        self.steps_done += times * self._method.per_iteration
        keys = jax.random.split(key, times)
        if self._experience.simulator.traceable and self._method.per_iteration < LARGE:
            (self.learner, self._held), notes = self._traced((self.learner, self._held), keys)
        else:
            collected = [self._once(k) for k in keys]
            notes = jax.tree.map(lambda *x: jnp.stack(x), *collected)
        return {k: float(jnp.nanmean(v)) for k, v in notes.items()}

    def learnt(self, learner: Any) -> Learnt | None:
        rule = self._rule
        if not isinstance(rule, Criticized):
            return None
        return learnt_of(self._method.word, known_names(self._place), _beside(rule, learner))

    def resume(self, learnt: Learnt) -> None:
        rule = self._rule
        if not isinstance(rule, Criticized) or learnt.by != self._method.word:
            return
        beside = put_back(
            learnt, known_names(self._place), lambda told: _beside(rule, rule.new(jax.random.key(0), told))
        )
        if beside is not None:
            self.learner = strong(self.learner._replace(**beside, hold=jnp.zeros(())))

    def _once(self, key: PRNGKeyArray) -> dict[str, Any]:
        assert self._held is not None
        collect, learn = jax.random.split(key)
        weights = self._rule.weights(self.learner)
        self._held, batch = self._experience.drive(weights, self._held, collect, self._method.steps)
        self.learner, notes = self._learn(self.learner, batch, learn)
        return notes

    def _scan(self, both: Any, keys: PRNGKeyArray) -> Any:
        arrays, static = eqx.partition(both, eqx.is_array)

        def once(arrays: Any, key: PRNGKeyArray) -> Any:
            learner, held = eqx.combine(arrays, static)
            collect, learn = jax.random.split(key)
            held, batch = self._experience.drive(self._rule.weights(learner), held, collect, self._method.steps)
            learner, notes = self._rule.learn(learner, batch, learn)
            return eqx.partition((learner, held), eqx.is_array)[0], notes

        arrays, notes = jax.lax.scan(once, arrays, keys)
        return eqx.combine(arrays, static), notes


def _beside(rule: Criticized, learner: Any) -> dict[str, Any]:
    return {name: getattr(learner, name) for name in rule.beside}
