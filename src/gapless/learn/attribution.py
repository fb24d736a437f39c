"""What causes the gap, first answer: how much of it goes away when each family of parameters is fitted alone."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gapless.core import Belief, Log, Simulator, nominal_belief, prior_belief

from .gap import gap
from .identify import Identify, identify

HORIZON_S = 0.5
QUICK = Identify(method="least-squares", windows=40, iterations=10)


@dataclass(frozen=True)
class Cause:
    """One family of parameters and the share of the nominal gap that fitting it alone removes."""

    family: str
    explained: float


def attribute(
    simulator: Simulator,
    best: Belief,
    logs: list[Log],
    held_out: list[Log],
    tell: Callable[[str], None] = lambda family: None,
) -> tuple[list[Cause], float]:
    """Causes, the largest first, and the share that all families explain together."""
    before = gap(simulator, nominal_belief(simulator.parameters), held_out, floor_from=best).excess(HORIZON_S)

    def explained(belief: Belief) -> float:
        after = gap(simulator, belief, held_out, floor_from=best).excess(HORIZON_S)
        return float(np.clip(1 - after / before, 0.0, 1.0))

    causes = []
    for family in sorted({p.family for p in simulator.parameters if p.free}):
        tell(family)
        prior = prior_belief(p for p in simulator.parameters if p.family == family)
        causes.append(Cause(family, explained(identify(simulator, prior, logs, held_out, QUICK).belief)))
    return sorted(causes, key=lambda c: -c.explained), explained(best)
