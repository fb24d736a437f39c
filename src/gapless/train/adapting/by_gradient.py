"""Adapting by one gradient step on a few episodes that explore: with rewards (MAML), and without any (NoRML).

Follow Finn et al. 2017 and Yang et al. 2019; see `train/meta/`. Departures: unless told otherwise they begin from a policy that
the usual recipe trained, which makes them affordable, every weight has a learned rate, and the second first follows a guide in
simulation: by rewards alone it stays with what suits most worlds.
"""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import jax

from gapless.core import GaplessError
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.teachable import ByGradient, Teachable, by_gradient

from ..learning import Place
from ..meta.from_log import rows_of, stacked
from ..meta.gradients import Gradients, LearnsByGradient, taught_by
from ..meta.preparing import learnt_to_learn
from ..meta.trials import horizon
from .adaptation import Adapter, Means, Tries
from .beginning import beginning
from .universal import universal

JUDGE = 32
"""Hidden units of a judge."""


@dataclass(frozen=True)
class Maml(Adapter):
    """Change the policy by one policy gradient of a few episodes, having learnt in simulation to change well."""

    word: ClassVar[str] = "maml"
    judge: ClassVar[int] = 0

    episodes: int = 3
    """Episodes on the robot, all of them before the step."""
    outer: Gradients = field(default_factory=lambda: Gradients(inner_rate=10.0))
    """How it learns to adapt."""
    hidden: tuple[int, int] | None = None
    """Width and number of hidden layers of a policy that begins untrained; by default it begins with a trained one."""
    looks: int = 6
    """Evaluations on the way; the policy that adapts best is kept."""

    def __post_init__(self) -> None:
        if min(self.episodes, self.looks) < 1:
            raise GaplessError(f"{self.word} needs at least one episode and one look.")

    def preparation(self) -> dict[str, Any]:
        return {"by": self.word, **asdict(self)}  # what is prepared depends on how many episodes there will be

    def prepared(self, place: Place, means: Means) -> Teachable:
        """A policy that explores, and what its step needs."""
        keys = jax.random.split(means.key, 3)
        policy, trained = beginning(place, replace(means, key=keys[0]), self.hidden, self.word)
        teachable = by_gradient(policy, self.judge, keys[1])
        told = replace(means, key=jax.random.fold_in(keys[0], 1))
        guide = universal(place, place.belief, told) if self.outer.guided else None
        outer = LearnsByGradient(place, self.outer, self.episodes, teachable, trained, guide)
        return learnt_to_learn(outer, self.outer.iterations, self.looks, keys[2], means.along(self.word))

    def tries(self, prepared: SeeingPolicy, place: Place, means: Means) -> Tries:
        """The policy that explores, again and again; then the one that a step makes of it."""
        if not isinstance(prepared, Teachable) or not isinstance(prepared.manner, ByGradient):
            raise GaplessError(
                f"{self.word} changes policies that it has prepared, and this is a {type(prepared).__name__}. Prepare anew."
            )
        task = place.task if prepared.manner.judge is None else None
        episodes = []
        for _ in range(self.episodes):
            log = yield prepared
            episodes.append(rows_of(prepared, log, horizon(place), task))
        return prepared.settled(taught_by(prepared, stacked(episodes), self.outer.discount))


@dataclass(frozen=True)
class Norml(Maml):
    """Change the policy by one step along what a learned judge says of motions alone: no reward is asked for on the robot."""

    word: ClassVar[str] = "norml"
    judge: ClassVar[int] = JUDGE

    episodes: int = 2
    """Episodes on the robot, all of them before the step."""
    outer: Gradients = field(default_factory=lambda: Gradients(guided=0.4))
    """How it learns to adapt."""
