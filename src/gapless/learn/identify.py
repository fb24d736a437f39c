"""Logs → a belief over the simulator's parameters, as wide as the held-out logs say it must be."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Gaussian, Log, Simulator, nominal_belief

from .evolution import evolve
from .least_squares import Bounds, Fit, fit, fit_starts
from .noise import sensor_noise
from .shooting import Shooting
from .windows import Windows, cut


@dataclass(frozen=True)
class Identify:
    """Find the simulator's parameters by multiple shooting."""

    method: Literal["auto", "least-squares", "cma"] = "auto"
    """Least squares, evolution followed by least squares, or the second where the first stalls."""
    window_s: float = 0.4
    """Length of a window: longer ones say more and get stuck sooner."""
    windows: int = 120
    """Windows used at most; more are thinned out evenly."""
    iterations: int = 30
    """Least-squares iterations at most."""
    stalled: float = 25.0
    """Mean square residual, in units of the sensors' noise, above which `auto` tries evolution."""
    doubt: float = 0.06
    """Least relative deviation of every parameter when the model does not explain the logs (held-out chi-square of 10)."""

    def __post_init__(self) -> None:
        if self.window_s <= 0 or self.windows < 1 or self.iterations < 1:
            raise GaplessError("identification needs window_s > 0, windows ≥ 1 and iterations ≥ 1.")


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


def identify(
    simulator: Simulator,
    prior: Gaussian,
    logs: list[Log],
    held_out: list[Log],
    recipe: Identify | None = None,
    seed: int = 0,
    progress: Callable[[int, float], None] | None = None,
) -> Identified:
    """The belief after `logs`; its covariance grows with the held-out chi-square where that exceeds one."""
    recipe = recipe or Identify()
    if not prior.names:
        raise GaplessError("no parameter is free, so there is nothing to identify. Set free = true in params.toml.")
    for log in logs + held_out:
        simulator.interface.require_same(log.interface, "the simulator", "the log")
    windows = _thin(_windows(simulator, logs, recipe), recipe.windows)
    noise = sensor_noise(logs)
    level = per_query(windows, noise)
    shooting = Shooting(simulator, windows, prior.names, nominal_belief(simulator.parameters).mean())
    bounds = bounds_of(prior)
    found, method = _search(shooting, bounds, level, recipe, seed, progress)
    noise, found = _sharpened(shooting, bounds, found, noise)
    chi_square = _chi_square(shooting, found, held_out, noise, recipe)
    covariance = np.linalg.inv(found.information) * max(1.0, chi_square)
    covariance = (covariance + covariance.T) / 2 + np.diag(_misfit(chi_square) * (recipe.doubt * found.params) ** 2)
    belief = _with_noise(prior, found.params, covariance, noise, simulator)
    return Identified(belief, chi_square, found.cost, noise, len(windows), found.iterations, method)


def _misfit(chi_square: float) -> float:
    """How far the model is from explaining the logs: 0 up to a chi-square of one, 1 from ten on.

    What no parameter expresses leaks into all of them, and their own intervals do not know it.
    """
    return float(np.clip(np.log10(max(chi_square, 1.0)), 0.0, 1.0))


def bounds_of(prior: Gaussian) -> Bounds:
    """The prior as least squares wants it."""
    return Bounds(prior.centre, np.sqrt(np.diag(prior.covariance)), prior.low, prior.high)


def per_query(windows: Windows, noise: dict[str, float]) -> Float[np.ndarray, " query"]:
    """The noise of each sample of a window."""
    return np.array([noise[name] for name, _ in windows.columns])[windows.channel]


def _windows(simulator: Simulator, logs: list[Log], recipe: Identify) -> Windows:
    windows = cut(simulator, logs, recipe.window_s)
    if windows is None:
        longest = max((log.seconds for log in logs), default=0.0)
        raise GaplessError(
            f"no log is long enough to learn from: the longest has {longest:.2f} s and windows need {recipe.window_s} s "
            "and a little before. Collect more, or lower window_s."
        )
    return windows


def _thin(windows: Windows, most: int) -> Windows:
    if len(windows) <= most:
        return windows
    return windows.some(np.unique(np.linspace(0, len(windows) - 1, most).astype(int)))


def _search(
    shooting: Shooting, bounds: Bounds, level: np.ndarray, recipe: Identify, seed: int,
    progress: Callable[[int, float], None] | None,
) -> tuple[Fit, str]:  # fmt: skip
    if recipe.method != "cma":
        found = fit(shooting, bounds, level, bounds.centre, recipe.iterations, progress)
        if recipe.method == "least-squares" or found.cost < recipe.stalled:
            return found, "least-squares"
        other = fit(shooting, bounds, level, evolve(shooting, bounds, level, seed), recipe.iterations, progress)
        return (other, "cma") if other.cost < found.cost else (found, "least-squares")
    begin = evolve(shooting, bounds, level, seed, progress)
    return fit(shooting, bounds, level, begin, recipe.iterations, progress), "cma"


def _sharpened(shooting: Shooting, bounds: Bounds, found: Fit, noise: dict[str, float]) -> tuple[dict[str, float], Fit]:
    """Lively motion looks like noise to a smooth curve and not to the model: where the fit leaves less, that is the noise."""
    left = {name: float(found.spread[k]) for k, (name, part) in enumerate(shooting.windows.columns) if part == 0}
    lower = {name: min(level, max(left[name], 1e-9)) for name, level in noise.items()}
    if all(lower[name] > 0.8 * noise[name] for name in noise):
        return noise, found
    again = fit(shooting, bounds, per_query(shooting.windows, lower), found.params, 5)
    return lower, again


def _chi_square(
    shooting: Shooting, found: Fit, held_out: list[Log], noise: dict[str, float], recipe: Identify
) -> float:
    windows = cut(shooting.simulator, held_out, recipe.window_s)
    if windows is None:
        return found.cost
    windows = _thin(windows, recipe.windows)
    other = Shooting(shooting.simulator, windows, shooting.names, shooting.fixed)
    level = per_query(windows, noise)
    _, slopes = fit_starts(other, found.params, level, np.ones(len(level)))
    freedom = windows.present.sum() - windows.start.size
    return float(((slopes.residual / level) ** 2).sum() / max(freedom, 1))


def _with_noise(
    prior: Gaussian, centre: np.ndarray, covariance: np.ndarray, noise: dict[str, float], simulator: Simulator
) -> Gaussian:
    """The belief over what was fitted, and the sensors' noise beside it where the simulator has a parameter for it."""
    known = {p.name for p in simulator.parameters}
    extra = {f"{c}.noise": v for c, v in noise.items() if f"{c}.noise" in known and f"{c}.noise" not in prior.names}
    size, more = len(centre), np.array(list(extra.values()))
    full = np.zeros((size + len(more),) * 2)
    full[:size, :size] = covariance
    full[np.arange(size, len(full)), np.arange(size, len(full))] = (0.05 * more) ** 2
    return Gaussian(
        prior.names + tuple(extra),
        np.concatenate([centre, more]),
        full,
        np.concatenate([prior.low, 0.5 * more]),
        np.concatenate([prior.high, 2 * more]),
    )
