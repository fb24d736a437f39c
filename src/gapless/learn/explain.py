"""The fewest departures from the data sheet that explain logs, and which families the logs tell apart."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from gapless.core import (
    Belief,
    GaplessError,
    Gaussian,
    Log,
    Parameter,
    Params,
    Simulator,
    generator_for,
    nominal_belief,
)

from .fewest import departures
from .identify import bounds_of
from .least_squares import Bounds, Fit, Problem, eliminated, fit
from .noise import sensor_noise
from .patterns import Pattern
from .separable import classes
from .shapley import coalitions
from .shooting import Shooting, Slopes
from .uncertainty import torn_covariance
from .varying import in_words
from .view import View, misfit_of, sensor_delays
from .windows import Windows, cut, per_query, thin
from .worth_a_look import Look


@dataclass(frozen=True)
class Attribute:
    """Split the gap between its causes."""

    windows: int = 40
    """Windows of the fit."""
    window_s: float = 0.4
    """Their length."""
    ahead: int = 32
    """Held-out windows that are predicted, at most."""
    worlds: int = 12_000
    """Predictions at most; with many families, fewer windows."""
    iterations: int = 10
    """Least-squares iterations of each fit at most."""
    rounds: int = 5
    """Sets of departures that are fitted at most; most often the first or second stays."""
    draws: int = 3
    """Draws of the parameters behind the intervals."""
    resamples: int = 400
    """Bootstrap samples of windows and draws."""

    def __post_init__(self) -> None:
        if (
            min(self.windows, self.ahead, self.iterations, self.rounds, self.resamples) < 1
            or self.window_s <= 0
            or self.draws < 0
        ):
            raise GaplessError("attribution needs window_s > 0 and at least one window, iteration, round and resample.")


class Explained(NamedTuple):
    """Parameters that may be wrong, and the few that need to be."""

    names: tuple[str, ...]
    families: tuple[str, ...]
    """Of each parameter."""
    nominal: Float[np.ndarray, " param"]
    kept: Bool[np.ndarray, " param"]
    """Which ones depart."""
    draws: Float[np.ndarray, "draw param"]
    """The best explanation, then draws around it; what does not depart is nominal."""
    groups: tuple[tuple[str, ...], ...]
    """Families, those that no log separates together."""
    patterns: tuple[Pattern, ...] = ()
    """What the last of the names are amplitudes of."""
    typical: tuple[float, ...] = ()
    """The mean of each pattern over the logs."""

    @property
    def params(self) -> Float[np.ndarray, " param"]:
        return self.draws[0]

    @property
    def departed(self) -> dict[str, float]:
        """Constants that do, and where they are."""
        varying = {p.name for p in self.patterns}
        found = zip(self.names, self.params, self.kept, strict=True)
        return {n: float(v) for n, v, k in found if k and n not in varying}

    @property
    def varied(self) -> tuple[str, ...]:
        """How parameters vary, in words."""
        values = dict(zip(self.names, self.params, strict=True))
        return in_words(tuple(p for p in self.patterns if values[p.name]), values)

    @property
    def players(self) -> tuple[tuple[str, ...], ...]:
        """The groups in which something departs."""
        moved = {f for f, k in zip(self.families, self.kept, strict=True) if k}
        return tuple(g for g in self.groups if moved & set(g))

    def steady(self, others: Params, values: Float[np.ndarray, "world param"]) -> Params:
        """Parameters of each world, those that vary as they were in the middle of the logs."""
        given = dict(zip(self.names, values.T, strict=True))
        amplitudes = [given.pop(p.name) for p in self.patterns]
        found = {**others, **given}
        for p, amplitude, part in zip(self.patterns, amplitudes, self.typical, strict=True):
            found[p.param] = found[p.param] + amplitude * part
        return found

    def mixtures(self, draws: Float[np.ndarray, "draw param"]) -> Float[np.ndarray, "coalition draw param"]:
        """For every coalition of players, its own parameters as drawn and the others nominal."""
        member = np.array([[f in g for f in self.families] for g in self.players], bool)
        sets = coalitions(len(self.players)).astype(int)
        inside = sets @ member.reshape(len(self.players), len(self.families)).astype(int) > 0
        return np.where(np.asarray(inside)[:, None], draws, self.nominal)


def doubted_of(simulator: Simulator, belief: Belief) -> tuple[Parameter, ...]:
    """What may explain a gap: everything that the belief is about, and what the sensors may do; noise explains nothing."""
    wanted = [p for p in simulator.parameters if p.name in belief.names or p.family == "sensing"]
    return tuple(p for p in wanted if not p.name.endswith(".noise"))


def begin_of(doubted: tuple[Parameter, ...], belief: Belief) -> Float[np.ndarray, " param"]:
    """Where the search begins: as believed, and what the belief is not about at nominal."""
    mean = belief.mean()
    return np.array([float(np.asarray(mean.get(p.name, p.nominal))) for p in doubted])


def explain(
    simulator: Simulator,
    doubted: tuple[Parameter, ...],
    begin: np.ndarray,
    logs: list[Log],
    recipe: Attribute,
    seed: int,
) -> Explained:
    """One fit of everything that may be doubted, and fits of what is left when all that logs would not miss is nominal.

    Constants may vary, where that explains more than it costs. What is missed is judged where everything is free, and again
    where only what departs is, until the two agree.
    """
    names, families = tuple(p.name for p in doubted), tuple(p.family for p in doubted)
    windows, bounds = _training(simulator, logs, recipe), bounds_of(_prior(doubted))
    fixed = nominal_belief(simulator.parameters).mean()
    problem = Problem(Shooting(simulator, windows, names, fixed), bounds, per_query(windows, sensor_noise(logs)))
    whole = fit(problem, begin, recipe.iterations)
    plain = View(problem, families, fixed, np.array([p.low for p in doubted]), misfit_of(windows, whole.cost))
    look = Look(plain, whole, doubted)
    patterns = look.chosen()
    view, params, slopes = look.at(patterns)
    kept, draws = _departed(view, params, slopes, recipe, seed)
    groups = classes(families, _separate(_information(whole, windows, bounds), names, simulator))
    return Explained(
        view.names, view.families, view.problem.bounds.centre, kept, draws, groups, patterns, look.typical(patterns)
    )


def _departed(
    view: View, params: np.ndarray, slopes: Slopes, recipe: Attribute, seed: int
) -> tuple[Bool[np.ndarray, " param"], Float[np.ndarray, "draw param"]]:
    """What needs to depart, and to where, with draws around it.

    Far from an answer, much seems to depart a little; each set is judged anew where its fit led, until it stays.
    """
    bounds = view.problem.bounds
    doubt = view.doubt(params, slopes)
    kept = departures(doubt)
    for left in reversed(range(recipe.rounds)):
        draws = np.tile(bounds.centre, (1 + recipe.draws, 1))
        if not kept.any():
            break
        reduced = view.only(kept)
        again = fit(reduced, doubt.values(kept)[kept], recipe.iterations)
        draws[:, kept] = _around(again, reduced, view.misfit, recipe.draws, seed)
        if not left:
            break
        doubt = view.doubt(draws[0], view.problem.shooting.slopes(draws[0], again.starts, bounds.deviation))
        better = departures(doubt)
        if (better == kept).all():
            break
        kept = better
    return kept, draws


def _around(found: Fit, problem: Problem, misfit: float, draws: int, seed: int) -> Float[np.ndarray, "draw param"]:
    """What was found, and draws of what else it may be."""
    bounds = problem.bounds
    jacobian, residual = (v / np.sqrt(misfit) for v in eliminated(found.slopes, problem.level, bounds))
    covariance = torn_covariance(jacobian, residual, 1.0)
    noise = generator_for(seed, "draws").standard_normal((draws, len(found.params)))
    around = found.params + noise @ np.linalg.cholesky((covariance + covariance.T) / 2).T * bounds.deviation
    return np.concatenate([found.params[None], np.clip(around, bounds.low, bounds.high)])


def _training(simulator: Simulator, logs: list[Log], recipe: Attribute) -> Windows:
    windows = cut(simulator, logs, recipe.window_s)
    if windows is None:
        raise GaplessError(
            f"no log is long enough to attribute the gap: windows need {recipe.window_s} s. Collect more."
        )
    return thin(windows, recipe.windows)


def _prior(doubted: tuple[Parameter, ...]) -> Gaussian:
    high = np.array([p.high for p in doubted])
    # Only delays relative to each other are seen: the search may pass through a sensor that is ahead of the commands.
    low = np.array([-p.high if p.family == "sensing" and p.name.endswith(".latency") else p.low for p in doubted])
    centre = np.array([p.nominal for p in doubted])
    return Gaussian(tuple(p.name for p in doubted), centre, np.diag(((high - low) / 4) ** 2), low, high)


def _information(found: Fit, windows: Windows, bounds: Bounds) -> Float[np.ndarray, "param param"]:
    """What the logs alone say, in units of the prior; less by as much as the model leaves unexplained."""
    scaled = found.information * np.outer(bounds.deviation, bounds.deviation)
    return (scaled - np.eye(len(scaled))) / misfit_of(windows, found.cost)


def _separate(information: np.ndarray, names: tuple[str, ...], simulator: Simulator) -> np.ndarray:
    """A delay that all sensors share is latency by definition: one sensor's own is taken as known, if there are others."""
    own = sensor_delays(names, simulator)[:1]
    information = information.copy()
    information[own, own] += 1e6
    return information
