"""What all recipes have in common: a place to train in, a method with a budget, and something that learns there."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeVar

from jaxtyping import PRNGKeyArray

from gapless.core import Belief, GaplessError, Simulator, Task
from gapless.nets.policy import NetworkPolicy
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import MujocoSimulator, compiled, why_not

from .guard import Guard
from .learnt import Learnt
from .randomization.starts import GradedStarts

Kind = TypeVar("Kind", bound=SeeingPolicy)


HOLD = 0.15
"""Share of the budget in which only critics learn, so that fresh ones do not spoil a trained policy."""


class Place(NamedTuple):
    """Where a policy is trained, and for what."""

    simulator: Simulator
    belief: Belief
    task: Task
    guard: Guard | None = None
    starts: GradedStarts | None = None
    """Where training episodes begin, if not where the task says."""


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
    def policy(self) -> SeeingPolicy:
        """The policy as it is now."""

    @abstractmethod
    def begin(self, key: PRNGKeyArray, place: Place | None = None) -> None:
        """All worlds begin anew, in its place or with another belief and starts of the same form; what was learnt stays."""

    @abstractmethod
    def iterate(self, key: PRNGKeyArray, times: int = 1) -> dict[str, float]:
        """Collect and learn, `times` times; what the last ones looked like."""

    def learnt(self, learner: Any) -> Learnt | None:
        """What this learner knows beside its policy, where whoever trains that further can make use of it."""
        return None

    def resume(self, learnt: Learnt) -> None:
        """Go on with what the training of its policy knew, as far as that is of use here."""
        return


@dataclass(frozen=True)
class Method(ABC):
    """A way of training; every one has a word by which it is asked for."""

    word: ClassVar[str]
    through_physics: ClassVar[bool] = False
    """Whether it follows gradients through the simulator, which then must be traceable."""

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

    def further(self) -> "Method":
        """How to go on from a policy that this has trained, with less of everything."""
        return replace(self, budget=self.budget * 3 // 8)

    @abstractmethod
    def learning(self, place: Place, key: PRNGKeyArray, begin_with: SeeingPolicy | None = None) -> Learning:
        """A training of this kind, going on from a policy where one is given."""

    def takes(self, policy: SeeingPolicy) -> bool:
        """Whether this way can go on from such a policy; else it has to begin anew."""
        return isinstance(policy, NetworkPolicy)

    def require_place(self, simulator: Simulator) -> None:
        """Raise where this way needs gradients through the physics and the simulator has none, compiled or not."""
        if self.through_physics and not compiled(simulator).traceable:
            because = (
                why_not(simulator) if isinstance(simulator, MujocoSimulator) else "steps outside of what is compiled"
            )
            raise GaplessError(
                f"{self.word} needs gradients through the physics, and the simulator of {simulator.interface.robot!r} cannot "
                f"be compiled: it has {because}. Train in a clone of it (gapless clone), or choose ppo."
            )

    def going_on(self, begin_with: SeeingPolicy | None, kind: type[Kind]) -> Kind | None:
        """The policy to go on from, where there is one; raises unless it is of the kind that this way trains."""
        if begin_with is not None and not isinstance(begin_with, kind):
            raise GaplessError(
                f"the recipe {self.word!r} goes on from a {kind.__name__} and was given a {type(begin_with).__name__}. Begin "
                "anew, or use the recipe that made it."
            )
        return begin_with
