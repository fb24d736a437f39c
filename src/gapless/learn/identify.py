"""Logs → a belief over the simulator's parameters, as wide as the held-out logs say it must be."""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from gapless.core import GaplessError, Gaussian, Log, Params, Particles, Simulator, nominal_belief

from .anchored import Anchored, anchored
from .divergence import LENGTHS_S, window_length
from .held_out import prediction_errors
from .least_squares import Bounds, Fit, Problem, Progress, fit, fit_starts
from .noise import sensor_noise
from .posterior import Posterior, Shape, particles_of, posterior, with_noise
from .search import Search, search
from .shooting import Shooting
from .tempering import Temper
from .untold import Untold, untold
from .windows import Windows, cut, cut_all, per_query, thin

FIRST_S, LONGEST_S = 0.4, 0.8
"""Longest windows of the first fit, and of the last."""
LONGER = 1.4
"""Windows are cut anew where the first fit allows them to be longer by this."""
EXPLAINED = 10.0
"""Mean square residual up to which a simulator explains the logs, and longer windows say more and not just worse."""


@dataclass(frozen=True)
class Identify:
    """Find the simulator's parameters by multiple shooting."""

    method: Literal["auto", "least-squares", "cma"] = "auto"
    """Least squares, evolution followed by least squares, or the second where the first stalls."""
    window_s: float | None = None
    """Length of a window: longer ones say more and get stuck sooner. Chosen from how fast trajectories part unless given."""
    windows: int = 120
    """Windows used at most; more are thinned out evenly."""
    starts: int = 3
    """Beginnings of the search: the prior's centre and the best of many draws."""
    iterations: int = 30
    """Least-squares iterations at most."""
    stalled: float = 25.0
    """Mean square residual, in units of the sensors' noise, above which `auto` tries evolution."""
    doubt: float = 0.06
    """Least relative deviation of every parameter when the model does not explain the logs (held-out chi-square of 10)."""
    posterior: Shape = "auto"
    """The shape of the belief: particles where the posterior bends away from a Gaussian, unless told otherwise."""
    temper: Temper = field(default_factory=Temper)
    """How particles are found."""
    anchored: Anchored | None = field(default_factory=lambda: Anchored(share=0.04, loose=3.0))
    """How starts are held, beside a fit in which they are free, where the simulator does not explain the logs: held-out logs
    choose. None for free starts only."""
    worse: float = 1.05
    """A fit whose held-out chi-square is worse than the prior's by this factor is refused."""

    def __post_init__(self) -> None:
        if (self.window_s is not None and self.window_s <= 0) or min(self.windows, self.iterations, self.starts) < 1:
            raise GaplessError("identification needs window_s > 0 and windows, starts and iterations ≥ 1.")


@dataclass(frozen=True)
class Identified:
    """A belief and how it was come by."""

    belief: Gaussian
    chi_square: float
    """Mean square held-out residual per degree of freedom, in units of the sensors' noise."""
    train_chi_square: float
    noise: dict[str, float]
    windows: int
    iterations: int
    method: str
    window_s: float = 0.4
    """Length of the windows."""
    chi_square_before: float = 1.0
    """The held-out chi-square at the prior's centre."""
    agreeing: tuple[int, int] = (1, 1)
    """Beginnings that led to the same place, and all of them."""
    untold: Untold = field(default_factory=lambda: Untold((), ()))
    """What the logs cannot tell."""
    bend: float = 1.0
    """How far the posterior is from a Gaussian: worst ratio of the cost and its parabola."""
    particles: Particles | None = None
    """The posterior itself, where a Gaussian does not do; `belief` has its first two moments."""
    refused: str = ""
    """Why the fit was refused and the belief is still the prior; empty if it was not."""


def identify(
    simulator: Simulator,
    prior: Gaussian,
    logs: list[Log],
    held_out: list[Log],
    recipe: Identify | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Identified:
    """The belief after `logs`; its covariance grows with the held-out chi-square where that exceeds one."""
    recipe = recipe or Identify()
    if not prior.names:
        raise GaplessError("no parameter is free, so there is nothing to identify. Set free = true in params.toml.")
    for log in logs + held_out:
        simulator.interface.require_same(log.interface, "the simulator", "the log")
    bounds = bounds_of(prior)
    fixed = nominal_belief(simulator.parameters).mean()
    at_prior = fixed | dict(zip(prior.names, prior.centre, strict=True))
    shooting = Shooting(simulator, _windows(simulator, logs, recipe, at_prior), prior.names, fixed)
    noise = sensor_noise(logs)
    problem = Problem(shooting, bounds, per_query(shooting.windows, noise))
    found = search(problem, Search(recipe.method, recipe.starts, recipe.iterations, recipe.stalled), seed, progress)
    noise = _sharpened(problem, found.fit, noise)
    problem = _longer(problem, found.fit, noise, logs, recipe)
    best = fit(problem, found.fit.params, recipe.iterations, progress)
    shooting = problem.shooting
    before, after = (_chi_square(shooting, p, held_out, noise, recipe) for p in (bounds.centre, best.params))
    chi_square = best.cost if after is None else after
    refused = _refusal(before, after, recipe)
    known, method = Posterior(bounds.centre, prior.covariance) if refused else None, found.method
    held = _held(simulator, prior, (logs, held_out), best, recipe)
    if held is not None:
        known, method, refused = Posterior(held.centre, held.covariance), "anchored", ""
    if known is None:
        known = posterior(problem, best, chi_square, recipe.doubt, recipe.posterior, recipe.temper, seed)
    belief = with_noise(prior, known, noise, simulator)
    return Identified(
        belief,
        chi_square,
        best.cost,
        noise,
        len(shooting.windows),
        best.iterations,
        method,
        window_s=float(shooting.windows.seconds),
        chi_square_before=chi_square if before is None else before,
        agreeing=(found.agreeing, found.begun),
        untold=untold(prior.names, best.information, bounds.deviation),
        bend=known.bend,
        particles=particles_of(known, belief, seed),
        refused=refused,
    )


def _held(
    simulator: Simulator, prior: Gaussian, logs: tuple[list[Log], list[Log]], best: Fit, recipe: Identify
) -> Gaussian | None:
    """The fit with starts that are held, where the other explains too little and this one predicts held-out logs better.

    Free starts let a wrong model explain a window by beginning it elsewhere, and parameters then follow.
    """
    if recipe.anchored is None or best.cost < EXPLAINED:
        return None
    training, held_out = logs
    found = anchored(simulator, prior, training, replace(recipe.anchored, doubt=recipe.doubt))
    centres = (found.centre, best.params, prior.centre)
    rivals = [Gaussian(prior.names, c, prior.covariance, prior.low, prior.high) for c in centres]
    errors = [prediction_errors(simulator, rival, held_out) for rival in rivals]
    typical = [float(np.median(e)) if len(e) else np.inf for e in errors]
    return found if typical[0] < min(typical[1:]) else None


def _refusal(before: float | None, after: float | None, recipe: Identify) -> str:
    if before is None or after is None or after <= recipe.worse * before:
        return ""
    return (
        f"the fit predicts held-out logs worse than the prior (chi-square {after:.3g} against {before:.3g}), "
        "so that the prior stays. Collect more, or richer, logs"
    )


def bounds_of(prior: Gaussian) -> Bounds:
    """The prior as least squares wants it."""
    return Bounds(prior.centre, np.sqrt(np.diag(prior.covariance)), prior.low, prior.high)


def _windows(simulator: Simulator, logs: list[Log], recipe: Identify, params: Params) -> Windows:
    seconds = recipe.window_s or window_length(simulator, logs, params, FIRST_S)
    windows = None if seconds is None else cut_all(simulator, logs, seconds)
    if windows is None:
        longest = max((log.seconds for log in logs), default=0.0)
        raise GaplessError(
            f"no log is long enough to learn from: the longest has {longest:.2f} s and windows need "
            f"{seconds or LENGTHS_S[-1]} s and a little before. Collect more, or longer, episodes."
        )
    return thin(windows, recipe.windows)


def _sharpened(problem: Problem, found: Fit, noise: dict[str, float]) -> dict[str, float]:
    """Lively motion looks like noise to a smooth curve and not to the model: where the fit leaves less, that is the noise."""
    left = {
        name: float(found.spread[k]) for k, (name, part) in enumerate(problem.shooting.windows.columns) if part == 0
    }
    lower = {name: min(level, max(left[name], 1e-9)) for name, level in noise.items()}
    return noise if all(lower[name] > 0.8 * noise[name] for name in noise) else lower


def _longer(problem: Problem, found: Fit, noise: dict[str, float], logs: list[Log], recipe: Identify) -> Problem:
    """The same with this noise, and longer windows where the simulator has become good enough for them."""
    shooting = problem.shooting
    same = Problem(shooting, problem.bounds, per_query(shooting.windows, noise))
    if recipe.window_s is not None or found.cost > EXPLAINED:
        return same
    seconds = window_length(shooting.simulator, logs, shooting.fixed | _named(shooting, found.params), LONGEST_S)
    if seconds is None or seconds < LONGER * shooting.windows.seconds:
        return same
    windows = cut_all(shooting.simulator, logs, seconds)
    if windows is None:
        return same
    longer = Shooting(shooting.simulator, thin(windows, recipe.windows), shooting.names, shooting.fixed)
    return Problem(longer, problem.bounds, per_query(longer.windows, noise))


def _named(shooting: Shooting, params: np.ndarray) -> Params:
    return dict(zip(shooting.names, params, strict=True))


def _chi_square(
    shooting: Shooting, params: np.ndarray, held_out: list[Log], noise: dict[str, float], recipe: Identify
) -> float | None:
    """Per degree of freedom, on logs that the fit has not seen; None where they are too short."""
    windows = cut(shooting.simulator, held_out, shooting.windows.seconds)
    if windows is None:
        return None
    windows = thin(windows, recipe.windows)
    other = Shooting(shooting.simulator, windows, shooting.names, shooting.fixed)
    level = per_query(windows, noise)
    _, slopes = fit_starts(other, params, level, np.ones(len(level)))
    freedom = windows.present.sum() - windows.start.size
    return float(((slopes.residual / level) ** 2).sum() / max(freedom, 1))
