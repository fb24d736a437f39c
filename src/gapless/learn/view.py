"""How logs look at everything that may be doubted: constants, and patterns by which some of them vary."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from gapless.core import Params, Simulator

from .fewest import Doubt
from .least_squares import Bounds, Problem, eliminated
from .patterns import Pattern
from .shooting import Shapes, Shooting, Slopes
from .uncertainty import left_out_covariance
from .windows import Windows


@dataclass(frozen=True)
class View:
    """What is doubted, and in which units windows disagree with it."""

    problem: Problem
    families: tuple[str, ...]
    fixed: Params
    """Nominal values of all."""
    low: Float[np.ndarray, " param"]
    """What parameters can be; the search may pass below."""
    misfit: float
    """Mean square of what the best fit leaves, in units of the noise."""

    @property
    def names(self) -> tuple[str, ...]:
        return self.problem.shooting.names

    def only(self, kept: Bool[np.ndarray, " param"]) -> Problem:
        """The same with all others at nominal, and nothing below what can be."""
        shooting, bounds = self.problem.shooting, self.problem.bounds
        chosen = tuple(n for n, k in zip(shooting.names, kept, strict=True) if k)
        part = Bounds(bounds.centre[kept], bounds.deviation[kept], self.low[kept], bounds.high[kept])
        fewer = Shooting(shooting.simulator, shooting.windows, chosen, self.fixed, shooting.shapes)
        return Problem(fewer, part, self.problem.level)

    def doubt(self, params: Float[np.ndarray, " param"], slopes: Slopes) -> Doubt:
        """Where logs put everything, seen from some parameters, and how surely: windows that pull apart are less sure."""
        bounds = self.problem.bounds
        jacobian, residual = (v / np.sqrt(self.misfit) for v in eliminated(slopes, self.problem.level, bounds))
        step = _step(jacobian, residual, (params - bounds.centre) / bounds.deviation)
        covariance = left_out_covariance(jacobian, residual + jacobian @ step)
        precision = np.linalg.inv(covariance) / np.outer(bounds.deviation, bounds.deviation)
        found = params + step * bounds.deviation
        own = sensor_delays(self.names, self.problem.shooting.simulator)
        return Doubt(found, bounds.centre, self.low, bounds.high, (precision + precision.T) / 2, self.families, own)

    def widened(self, patterns: tuple[Pattern, ...], shapes: Shapes) -> "View":
        """The same with patterns beside the constants."""
        shooting, bounds = self.problem.shooting, self.problem.bounds
        target = [shooting.names.index(p.param) for p in patterns]
        reach = (bounds.high - bounds.low)[target]
        wide = Bounds(
            np.append(bounds.centre, np.zeros(len(target))),
            np.append(bounds.deviation, bounds.deviation[target]),
            np.append(bounds.low, -reach),
            np.append(bounds.high, reach),
        )
        names = (*shooting.names, *(p.name for p in patterns))
        more = Shooting(shooting.simulator, shooting.windows, names, self.fixed, shapes)
        families = (*self.families, *(self.families[k] for k in target))
        problem = Problem(more, wide, self.problem.level)
        return replace(self, problem=problem, families=families, low=np.append(self.low, -reach))

    def left(self, params: Float[np.ndarray, " param"], slopes: Slopes) -> float:
        """Squares that everything together would leave, seen from some parameters, in units of the noise."""
        bounds = self.problem.bounds
        jacobian, residual = eliminated(slopes, self.problem.level, bounds)
        step = _step(jacobian, residual, (params - bounds.centre) / bounds.deviation)
        return float(((residual + jacobian @ step) ** 2).sum())


def sensor_delays(names: tuple[str, ...], simulator: Simulator) -> tuple[int, ...]:
    """Where the delays of the sensors are, if every sensor has one and there are others: what all share is latency."""
    own = [names.index(n) for c in simulator.interface.measurement_names if (n := f"{c}.latency") in names]
    return tuple(own) if len(own) == len(simulator.interface.measurements) > 1 else ()


def _step(jacobian: np.ndarray, residual: np.ndarray, pull: np.ndarray) -> Float[np.ndarray, " param"]:
    """To where windows and prior agree best, in prior deviations."""
    told = np.einsum("wqp,wqr->pr", jacobian, jacobian) + np.eye(len(pull))
    return -np.linalg.solve(told, np.einsum("wqp,wq->p", jacobian, residual) + pull)


def misfit_of(windows: Windows, cost: float) -> float:
    """Mean square of what a fit leaves beside its starts, never less than noise would, from the mean over all samples."""
    present = int(windows.present.sum())
    return max(1.0, cost * present / max(present - windows.start.size, 1))
