"""How logs look at everything that may be doubted: constants, and patterns by which some of them vary."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from gapless.core import Parameter, Params, Simulator

from .fewest import PARAMETER, Doubt
from .least_squares import Bounds, Fit, Problem, eliminated
from .shooting import Shapes, Shooting, Slopes
from .uncertainty import left_out_covariance
from .varying import Pattern, places_of, shapes_of, ways_to_vary
from .windows import Windows

WAYS = 2
"""Parameters that are looked at as varying, at most."""


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

    def widened(self, found: Fit, patterns: tuple[Pattern, ...], shapes: Shapes) -> "tuple[View, Slopes]":
        """The same with patterns beside the constants, and what follows from the constants' slopes for theirs."""
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
        problem = Problem(
            Shooting(shooting.simulator, shooting.windows, names, self.fixed, shapes), wide, self.problem.level
        )
        families = (*self.families, *(self.families[k] for k in target))
        view = replace(self, problem=problem, families=families, low=np.append(self.low, -reach))
        more = found.slopes.by_param[..., target] * np.stack([shapes[p.name][1] for p in patterns], axis=-1)[:, None]
        return view, found.slopes._replace(by_param=np.concatenate([found.slopes.by_param, more], axis=-1))


def sensor_delays(names: tuple[str, ...], simulator: Simulator) -> tuple[int, ...]:
    """Where the delays of the sensors are, if every sensor has one and there are others: what all share is latency."""
    own = [names.index(n) for c in simulator.interface.measurement_names if (n := f"{c}.latency") in names]
    return tuple(own) if len(own) == len(simulator.interface.measurements) > 1 else ()


def _step(jacobian: np.ndarray, residual: np.ndarray, pull: np.ndarray) -> Float[np.ndarray, " param"]:
    """To where windows and prior agree best, in prior deviations."""
    told = np.einsum("wqp,wqr->pr", jacobian, jacobian) + np.eye(len(pull))
    return -np.linalg.solve(told, np.einsum("wqp,wq->p", jacobian, residual) + pull)


def worth_a_look(view: View, found: Fit, ways: list[tuple[Pattern, ...]], shapes: Shapes) -> tuple[Pattern, ...]:
    """The patterns of the few parameters whose variation explains most beyond its price, one after the other.

    What a model leaves over is no noise but a curve for each channel of a window, so these are what counts as independent.
    """
    curves = len(view.problem.shooting.windows) * len(view.problem.shooting.windows.columns)
    chosen: tuple[Pattern, ...] = ()
    left = _left(view, found, chosen, shapes)
    for _ in range(WAYS):
        trials = [(way, _left(view, found, chosen + way, shapes)) for way in ways if not set(way) & set(chosen)]
        gains = [curves * np.log(left / then) - PARAMETER * len(way) for way, then in trials]
        if not gains or max(gains) <= 0:
            break
        way, left = trials[int(np.argmax(gains))]
        chosen += way
    return chosen


def _left(view: View, found: Fit, patterns: tuple[Pattern, ...], shapes: Shapes) -> float:
    """Squares that everything together would leave, in units of the noise."""
    wide, slopes = view.widened(found, patterns, shapes) if patterns else (view, found.slopes)
    bounds = wide.problem.bounds
    jacobian, residual = eliminated(slopes, view.problem.level, bounds)
    step = _step(
        jacobian, residual, (np.append(found.params, np.zeros(len(patterns))) - bounds.centre) / bounds.deviation
    )
    return float(((residual + jacobian @ step) ** 2).sum())


def _misfit(view: View, squares: float) -> float:
    windows = view.problem.shooting.windows
    return misfit_of(windows, squares / max(int(windows.present.sum()), 1))


def misfit_of(windows: Windows, cost: float) -> float:
    """Mean square of what a fit leaves beside its starts, never less than noise would, from the mean over all samples."""
    present = int(windows.present.sum())
    return max(1.0, cost * present / max(present - windows.start.size, 1))


def looked_at(view: View, found: Fit, doubted: tuple[Parameter, ...]) -> tuple[tuple[Pattern, ...], View, Slopes]:
    """Patterns that are worth a look, the view with them, and the slopes of all."""
    shooting = view.problem.shooting
    places = places_of(shooting.simulator, shooting.windows)
    ways = ways_to_vary(doubted, shooting.windows, places)
    shapes = shapes_of(tuple(p for way in ways for p in way), shooting.windows, places)
    patterns = worth_a_look(view, found, ways, shapes)
    if not patterns:
        return patterns, view, found.slopes
    wide, slopes = view.widened(found, patterns, shapes)
    squares = _left(view, found, patterns, shapes)
    return patterns, replace(wide, misfit=_misfit(view, squares)), slopes
