"""What a policy is trained over, from look to look: params of the belief, a table or ranges that grow, and starts."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import jax
from jaxtyping import PRNGKeyArray

from gapless.core import Belief, Block, GaplessError, Simulator, Task

from .adaptive import Adaptive, adaptive
from .curriculum import Curriculum
from .edges import EdgeTrial
from .start_trial import StartTrial
from .starts import GradedStarts, graded_starts
from .table import classic

Over = Literal["belief", "classic", "adaptive"]
Begins = Literal["task", "graded"]
FORGETS = 0.7
"""Memory of a curriculum that hears of four episodes of each difficulty at a time: they are three quarters of what it knows."""


@dataclass(frozen=True)
class Practised:
    """A curriculum over starts, and who tells it how the policy fares."""

    curriculum: Curriculum
    starts: GradedStarts
    trial: StartTrial

    def after(self, belief: Belief, policy: Block, key: PRNGKeyArray) -> "Practised":
        """What to practise once the policy is this good."""
        curriculum = self.trial.told(self.curriculum, self.starts, belief, policy, key)
        return replace(self, curriculum=curriculum, starts=graded_starts(self.trial.task, curriculum))


@dataclass(frozen=True)
class TrainedOver:
    """What is trained over now. Nothing in it changes: `after` returns the next. Its form never changes, so that nothing is
    compiled anew."""

    belief: Belief
    ranges: Adaptive | None = None
    trial: EdgeTrial | None = None
    practised: Practised | None = None

    @property
    def starts(self) -> GradedStarts | None:
        """Where episodes begin, if not where the task says."""
        return None if self.practised is None else self.practised.starts

    def figures(self) -> dict[str, float]:
        """How far ranges have grown, as a share of what is plausible, and how much of the way to the task's own start passes."""
        grown = {} if self.ranges is None else {"extent": self.ranges.extent}
        return grown if self.practised is None else grown | {"way": self.practised.curriculum.way}

    def after(self, policy: Block, key: PRNGKeyArray) -> "TrainedOver":
        """What to train over once the policy is this good: ranges move as it fares on their edges, starts as it fares there."""
        keys, found = jax.random.split(key), self
        if self.ranges is not None and self.trial is not None:
            ranges = self.ranges.told(self.trial.outcomes(self.ranges, policy, keys[0]))
            found = replace(found, ranges=ranges, belief=ranges.belief())
        if self.practised is not None:
            found = replace(found, practised=self.practised.after(self.belief, policy, keys[1]))
        return found


def trained_over(over: Over, begins: Begins, simulator: Simulator, belief: Belief, task: Task) -> TrainedOver:
    """What a training begins with."""
    if begins not in get_args(Begins):
        raise GaplessError(f"nothing begins {begins!r}; choose one of {', '.join(get_args(Begins))}.")
    practised = None
    if begins == "graded":
        curriculum = Curriculum(memory=FORGETS)
        trial = StartTrial(simulator, task, len(curriculum.passed))
        practised = Practised(curriculum, graded_starts(task, curriculum), trial)
    match over:
        case "belief":
            return TrainedOver(belief, practised=practised)
        case "classic":
            return TrainedOver(classic(simulator.parameters), practised=practised)
        case "adaptive":
            ranges = adaptive(simulator.parameters)
            trial = EdgeTrial(simulator, task, ranges.edges, ranges.recipe.episodes)
            return TrainedOver(ranges.belief(), ranges, trial, practised)
        case _:
            raise GaplessError(f"nothing is trained over {over!r}; choose one of {', '.join(get_args(Over))}.")
