"""What all ways of adapting have in common: something trained in simulation, then policies to try on a robot, one episode each.

Whoever owns the robot turns the generator, sends it the log of every episode and counts the seconds. All of it follows from
the key and the logs, so that an adaptation that was interrupted is replayed with the logs that there already are.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Log, Task
from gapless.nets.seeing import SeeingPolicy

from ..checkpoint import Checkpoint
from ..learning import Place
from ..train import Along, Told, Train

Tries = Generator[SeeingPolicy, Log, SeeingPolicy]
"""Yields a policy to try, is sent the log of one episode of it, and returns the policy to keep. The first one to try is what
there would be without any adaptation, unless what was prepared adapts by itself."""


@dataclass(frozen=True)
class Means:
    """What an adaptation has beside the place: how policies are trained, and everything random."""

    recipe: Train
    """How a policy is trained from nothing."""
    again: Train
    """How a trained one is trained further."""
    key: PRNGKeyArray
    in_place: SeeingPolicy | None = None
    """The policy that there is already, where there is one; ways that adapt any policy begin with it."""
    folder: Path | None = None
    """Where trainings are kept look by look, so that a replay finds them and does not train again."""
    tell: Told = field(default=lambda steps, figures: None)
    """Who is told after each look of a training."""

    def along(self, part: str, begin_with: SeeingPolicy | None = None) -> Along:
        """What goes along with the training of this name, which no other training of the adaptation may have."""
        kept = None if self.folder is None else Checkpoint(self.folder / part)
        return Along(begin_with, checkpoint=kept, tell=self.tell)

    def with_key(self, part: int) -> "Means":
        """The same with dice of its own."""
        return replace(self, key=jax.random.fold_in(self.key, part))


@dataclass(frozen=True)
class Adapter(ABC):
    """A way of adapting; every one has a word by which it is asked for."""

    word: ClassVar[str]

    episodes: int = 10
    """Episodes on the robot, at most."""

    def preparation(self) -> dict[str, Any]:
        """What `prepared` depends on beside the place and the means, as plain values: all settings but the episodes."""
        return {"by": self.word, **{k: v for k, v in asdict(self).items() if k != "episodes"}}

    @abstractmethod
    def prepared(self, place: Place, means: Means) -> SeeingPolicy:
        """What is trained in simulation before the robot is asked; it may be told params, and it can be stored."""

    @abstractmethod
    def tries(self, prepared: SeeingPolicy, place: Place, means: Means) -> Tries:
        """Policies to try that need nothing but measurements, at most `episodes` of them, and the one to keep."""


def worth(task: Task, log: Log) -> float:
    """The return of an episode on the robot; time that was lost because it was stopped costs what its worst period did."""
    rewards, period_s = task.rewards(log), log.interface.period_s
    lost_s = max(0.0, task.seconds - len(rewards) * period_s) if log.source.get("stopped") else 0.0
    return float(np.sum(rewards)) * period_s + lost_s * float(min(np.min(rewards, initial=0.0), 0.0))
