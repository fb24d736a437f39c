"""Levenberg-Marquardt over shared parameters and free starts: each window's start is eliminated before the parameters meet."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from .shooting import Shooting, Slopes
from .windows import Windows

Progress = Callable[[int, float, Float[np.ndarray, " param"]], None]
"""Takes the iteration, the cost and where it is."""

DAMPINGS = 10.0 ** np.array([-2.0, -1.0, 0.0, 1.0])
"""Multiples of the current damping that are tried side by side."""
SETTLED, STILL = 1e-3, 2
"""Share of the cost below which an iteration gains nothing, and such iterations in a row that end a fit."""
FAINT = 1e-7
"""Share of what a window says about its start that every direction gets: a joint stuck in dry friction forgets its speed."""


@dataclass(frozen=True)
class Fit:
    """Where the search ended."""

    params: Float[np.ndarray, " param"]
    starts: Float[np.ndarray, "window state"]
    information: Float[np.ndarray, "param param"]
    """Inverse covariance of the parameters given unit noise, starts integrated out, prior included."""
    cost: float
    """Mean square of the residuals in units of the noise."""
    iterations: int
    spread: Float[np.ndarray, " column"]
    """The typical size of what is left over, per column."""
    slopes: Slopes
    """Residuals and derivatives there."""


@dataclass(frozen=True)
class Bounds:
    """The prior as least squares sees it."""

    centre: Float[np.ndarray, " param"]
    deviation: Float[np.ndarray, " param"]
    low: Float[np.ndarray, " param"]
    high: Float[np.ndarray, " param"]


@dataclass(frozen=True)
class Problem:
    """What is fitted: windows, what was known before, and how exactly each sample is measured."""

    shooting: Shooting
    bounds: Bounds
    level: Float[np.ndarray, " query"]

    def on(self, windows: Windows) -> "Problem":
        """The same with other windows of the same length."""
        s = self.shooting
        return Problem(Shooting(s.simulator, windows, s.names, s.fixed), self.bounds, self.level)


def fit(
    problem: Problem,
    begin: Float[np.ndarray, " param"],
    iterations: int = 30,
    progress: Progress | None = None,
    settled: float = SETTLED,
) -> Fit:
    """The parameters and starts that explain the windows best, from `begin` on."""
    shooting, bounds, noise = problem.shooting, problem.bounds, problem.level
    windows = shooting.windows
    params, starts = begin.copy(), windows.start.copy()
    damping, still = 1.0, 0
    slopes = shooting.slopes(params, starts, bounds.deviation)
    for k in range(iterations):
        # While the model is far off, its own misfit is the noise; towards the end it is the sensors'.
        level = np.maximum(noise, leftover(slopes.residual, windows.channel)[windows.channel])
        trials = [_step(slopes, level, damping * d, params, bounds) for d in DAMPINGS]
        new_params = np.clip([params + t[0] for t in trials], bounds.low, bounds.high)
        new_starts = np.stack([starts + t[1] for t in trials])
        residuals = shooting.residuals(new_params, new_starts)
        costs = [_cost(r, level, p, bounds) for r, p in zip(residuals, new_params, strict=True)]
        best, now = int(np.argmin(costs)), _cost(slopes.residual, level, params, bounds)
        if costs[best] < now:
            params, starts = new_params[best], new_starts[best]
            slopes = shooting.slopes(params, starts, bounds.deviation)
        if progress is not None:
            progress(k + 1, min(now, costs[best]), params)
        damping = float(np.clip(damping * DAMPINGS[best] if costs[best] < now else damping * 100, 1e-8, 1e8))
        still = still + 1 if costs[best] > now * (1 - settled) else 0
        if still >= STILL:
            break
    information = _information(slopes, noise, params, bounds)
    cost = float(((slopes.residual / noise) ** 2).sum()) / max(int(windows.present.sum()), 1)
    freedom = 1 - windows.start.size / max(int(windows.present.sum()), windows.start.size + 1)
    spread = leftover(slopes.residual, windows.channel) / np.sqrt(freedom)
    return Fit(params, starts, information, cost, k + 1, spread, slopes)


def fit_starts(
    shooting: Shooting,
    params: Float[np.ndarray, " param"],
    noise: Float[np.ndarray, " query"],
    considered: Float[np.ndarray, " query"],
    iterations: int = 4,
) -> tuple[Float[np.ndarray, "window state"], Slopes]:
    """Each window's start that fits the considered samples best under fixed parameters, and the slopes there."""
    starts, scale = shooting.windows.start.copy(), np.ones(0)
    fixed = shooting.at(params)
    nothing = np.empty(0)
    slopes = fixed.slopes(nothing, starts, scale)
    for _ in range(iterations):
        weight = considered / noise
        j, r = slopes.by_start * weight[:, None], slopes.residual * weight
        normal = np.einsum("wqs,wqt->wst", j, j)
        normal += 1e-6 * np.eye(normal.shape[1]) * np.einsum("wss->w", normal)[:, None, None] + 1e-9 * np.eye(
            normal.shape[1]
        )
        starts = starts - np.linalg.solve(normal, np.einsum("wqs,wq->ws", j, r)[..., None])[..., 0]
        slopes = fixed.slopes(nothing, starts, scale)
    return starts, slopes


def information_at(
    shooting: Shooting,
    params: Float[np.ndarray, " param"],
    scale: Float[np.ndarray, " param"],
    noise: Float[np.ndarray, " query"],
) -> Float[np.ndarray, "param param"]:
    """What the windows alone say about the parameters at a given point, each start fitted there and integrated out."""
    starts, _ = fit_starts(shooting, params, noise, np.ones(len(noise)))
    bounds = Bounds(params, scale, params, params)
    with_prior = _information(shooting.slopes(params, starts, scale), noise, params, bounds)
    return with_prior - np.diag(1 / scale**2)


def eliminated(
    slopes: Slopes, level: Float[np.ndarray, " query"], bounds: Bounds
) -> tuple[Float[np.ndarray, "window query param"], Float[np.ndarray, "window query"]]:
    """Derivatives by the parameters (in prior deviations) and residuals, in units of the noise, each start refitted."""
    r, jp, js = _weighted(slopes, level, bounds)
    back = np.linalg.solve(told_of_starts(js), np.einsum("wqs,wqp->wsp", js, jp))
    return jp - js @ back, r


def told_of_starts(js: Float[np.ndarray, "window query state"]) -> Float[np.ndarray, "window state state"]:
    """What each window says about its own start, from derivatives in units of the noise; never singular."""
    told = np.einsum("wqs,wqt->wst", js, js)
    faint = FAINT * np.einsum("wss->w", told) + 1e-9
    return told + faint[:, None, None] * np.eye(js.shape[-1])


def _information(slopes: Slopes, noise: np.ndarray, params: np.ndarray, bounds: Bounds) -> np.ndarray:
    found = _reduced(slopes, noise, 0.0, params, bounds)[0]
    # In deviations of the prior, which counts for one: rounding must not leave less than it alone would say.
    values, axes = np.linalg.eigh((found + found.T) / 2)
    return axes @ np.diag(np.maximum(values, 1.0)) @ axes.T / np.outer(bounds.deviation, bounds.deviation)


def leftover(residual: Float[np.ndarray, "window query"], channel: np.ndarray) -> Float[np.ndarray, " column"]:
    """The typical size of each channel's residuals; a median, so that runaway windows do not set it."""
    return np.array([1.4826 * np.median(np.abs(residual[:, channel == c])) for c in range(channel.max() + 1)])


def _cost(residual: np.ndarray, level: np.ndarray, params: np.ndarray, bounds: Bounds) -> float:
    z = residual / level
    # Beyond ten times the level a residual counts linearly: one runaway window must not rule the fit.
    robust = np.where(np.abs(z) < 10, z**2, 20 * np.abs(z) - 100)
    return float(robust.sum() + (((params - bounds.centre) / bounds.deviation) ** 2).sum())


def _step(
    slopes: Slopes, level: np.ndarray, damping: float, params: np.ndarray, bounds: Bounds
) -> tuple[np.ndarray, np.ndarray]:
    a, b, h_inv, h_sp, g_s = _reduced(slopes, level, damping, params, bounds)
    z = -np.linalg.solve(a + damping * np.diag(np.diag(a)), b)
    starts = -np.einsum("wst,wt->ws", h_inv, g_s + h_sp @ z)
    return z * bounds.deviation, starts


def _reduced(slopes: Slopes, level: np.ndarray, damping: float, params: np.ndarray, bounds: Bounds) -> tuple:
    """Normal equations of the parameters (in prior deviations) after eliminating the starts."""
    r, jp, js = _weighted(slopes, level, bounds)
    h_ss = told_of_starts(js)
    size = np.arange(h_ss.shape[1])
    h_ss[:, size, size] *= 1 + damping
    h_inv = np.linalg.inv(h_ss)
    h_sp, g_s = np.einsum("wqs,wqp->wsp", js, jp), np.einsum("wqs,wq->ws", js, r)
    a = np.einsum("wqp,wqr->pr", jp, jp) - np.einsum("wsp,wst,wtr->pr", h_sp, h_inv, h_sp) + np.eye(jp.shape[-1])
    pull = (params - bounds.centre) / bounds.deviation
    b = np.einsum("wqp,wq->p", jp, r) - np.einsum("wsp,wst,wt->p", h_sp, h_inv, g_s) + pull
    return a, b, h_inv, h_sp, g_s


def _weighted(slopes: Slopes, level: np.ndarray, bounds: Bounds) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Residuals and derivatives in units of the noise, runaway samples held back as `_cost` counts them."""
    z = slopes.residual / level
    weight = np.sqrt(np.where(np.abs(z) < 10, 1.0, 10 / np.maximum(np.abs(z), 1e-9)))
    jp = slopes.by_param * bounds.deviation * (weight / level)[..., None]
    return z * weight, jp, slopes.by_start * (weight / level)[..., None]
