"""What all recipes have in common: a place to train in, a method with a budget, and something that learns there."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from jaxtyping import PRNGKeyArray

from gapless.core import Belief, Simulator, Task
from gapless.nets.policy import NetworkPolicy

from .guard import Guard


class Place(NamedTuple):
    """Where a policy is trained, and for what."""

    simulator: Simulator
    belief: Belief
    task: Task
    guard: Guard | None = None


class Learning(ABC):
    """One training under way; call `begin` once, then `iterate` until satisfied."""

    steps_done: int
    """Control periods so far, over all worlds."""
    learner: Any
    """Everything that learning changes, as a pytree: what a checkpoint keeps."""
    ready: bool = True
    """Whether its policy has begun to learn; nobody is satisfied with it before."""

    @property
    @abstractmethod
    def policy(self) -> NetworkPolicy:
        """The policy as it is now."""

    @abstractmethod
    def begin(self, key: PRNGKeyArray) -> None:
        """All worlds begin anew; what was learnt stays."""

    @abstractmethod
    def iterate(self, key: PRNGKeyArray, times: int = 1) -> dict[str, float]:
        """Collect and learn, `times` times; what the last ones looked like."""


@dataclass(frozen=True)
class Method(ABC):
    """A way of training; every one has a word by which it is asked for."""

    word: ClassVar[str]

    worlds: int = 64
    """Worlds stepped side by side."""
    steps: int = 32
    """Control periods per world between two updates."""
    budget: int = 500_000
    """Control periods over all worlds in all."""

    @property
    def per_iteration(self) -> int:
        """Control periods that one iteration takes."""
        return self.worlds * self.steps

    @abstractmethod
    def learning(self, place: Place, key: PRNGKeyArray, begin_with: NetworkPolicy | None = None) -> Learning:
        """A training of this kind, going on from a policy where one is given."""
