"""What a policy is trained over, from look to look: the belief, the classic table, or ranges that grow with it."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from jaxtyping import PRNGKeyArray

from gapless.core import Belief, Block, GaplessError, Simulator, Task

from .adaptive import Adaptive, adaptive
from .edges import EdgeTrial
from .table import classic

Over = Literal["belief", "classic", "adaptive"]


@dataclass(frozen=True)
class TrainedOver:
    """What is trained over now. Nothing in it changes: `after` returns the next. Its form never changes, so that nothing is
    compiled anew."""

    belief: Belief
    ranges: Adaptive | None = None
    trial: EdgeTrial | None = None

    def figures(self) -> dict[str, float]:
        """How far ranges have grown, as a share of what is plausible."""
        return {} if self.ranges is None else {"extent": self.ranges.extent}

    def after(self, policy: Block, key: PRNGKeyArray) -> "TrainedOver":
        """What to train over once the policy is this good: ranges move as it fares on their edges."""
        if self.ranges is None or self.trial is None:
            return self
        ranges = self.ranges.told(self.trial.outcomes(self.ranges, policy, key))
        return replace(self, ranges=ranges, belief=ranges.belief())


def trained_over(over: Over, simulator: Simulator, belief: Belief, task: Task) -> TrainedOver:
    """What a training begins with."""
    match over:
        case "belief":
            return TrainedOver(belief)
        case "classic":
            return TrainedOver(classic(simulator.parameters))
        case "adaptive":
            ranges = adaptive(simulator.parameters)
            return TrainedOver(
                ranges.belief(), ranges, EdgeTrial(simulator, task, ranges.edges, ranges.recipe.episodes)
            )
        case _:
            raise GaplessError(f"nothing is trained over {over!r}; choose one of {', '.join(get_args(Over))}.")
