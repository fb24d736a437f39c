"""A policy under a belief, simulated for a decision: what it earns, where it fails, and how the robot has disagreed."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from gapless.core import Artifact, Params

from .estimates import cost_of_doubt, weights_of
from .forecasts import Still, score
from .incumbent import Shown, shown_by
from .stages import Stages

EACH = 2
"""Episodes in each draw: two say what is the draw's and what is chance."""
NOISE = 1.28
"""Deviations below the forecast's mean from which on a return disagrees with it: one in ten does by chance."""


class Simulated(NamedTuple):
    """A policy in draws of a belief."""

    params: Params
    returns: Float[np.ndarray, "draw episode"]
    passed: Bool[np.ndarray, "draw episode"]
    still: float
    """Return of a robot that rests."""


@dataclass(frozen=True)
class Outlook:
    """What a policy is expected to earn, and what it has shown."""

    simulated: Simulated
    shown: Shown
    widen: float
    """What forecasts had to be widened by to have been right so far."""

    @property
    def mean(self) -> float:
        return float(self.simulated.returns.mean())

    @property
    def scale(self) -> float:
        """The return that is at stake: what the better draws earn above rest."""
        best = float(np.quantile(self.simulated.returns.mean(axis=1), 0.9))
        return max(abs(best - self.simulated.still), 1e-9)

    @property
    def deviation(self) -> float:
        """Of one episode's return from the mean, as wide as earlier misses ask for."""
        return self.widen * float(self.simulated.returns.std())

    @property
    def doubt(self) -> float:
        """What not knowing the parameters costs."""
        return cost_of_doubt(self.simulated.returns)

    @property
    def weights(self) -> dict[str, float]:
        """How much each parameter has to do with the return."""
        return weights_of(self.simulated.params, self.simulated.returns.mean(axis=1))

    @property
    def shortfall(self) -> float:
        """How much less the robot showed than is simulated, where that is more than chance or an unexpected failure."""
        if not self.shown.returns:
            return 0.0
        less = self.mean - float(np.mean(self.shown.returns))
        by_chance = NOISE * self.deviation / np.sqrt(len(self.shown.returns))
        surprised = not self.shown.always_passed and float(self.simulated.passed.mean()) > 0.5
        return max(less, 0.0) if less > by_chance or surprised else 0.0


def outlook(stages: Stages, belief: Artifact, policy: Artifact, seen: list[Artifact]) -> Outlook:
    """Of a policy under today's belief, beside what these logs of it have shown."""
    stages.tell("weighing what to do next")
    workspace, draws = stages.workspace, stages.recipe.draws
    logs, returns = stages.simulate(belief, stages.policy(policy), draws, EACH, "outlook")
    passed = np.array([workspace.task.judge(log).passed for log in logs])
    _, still = stages.simulate(belief, Still(workspace.interface), stages.recipe.checks, 1, "still")
    found = Simulated(
        stages.drawn(belief, draws, "outlook")[0], np.reshape(returns, (draws, EACH)), passed.reshape(draws, EACH),
        float(np.mean(still)),
    )  # fmt: skip
    return Outlook(found, shown_by(seen), score(workspace.store, stages.crank or None).widen)
