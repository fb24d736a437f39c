"""Parameters from real recordings, which no model explains to the last encoder step: starts stay near what was measured.

Free starts let a wrong model explain an unstable window by beginning it elsewhere. Here each start is held by the doubt of the
measurement that gave it, and residuals count from a share of the motion on, linearly beyond three times that.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Gaussian, Log, Simulator, nominal_belief

from .noise import sensor_noise
from .posterior import lasting_doubt
from .shooting import Shooting, Slopes
from .windows import SLOPE_SAMPLES, Windows, cut, read_joints, thin

ROBUST = 3.0
TRIALS = 4


@dataclass(frozen=True)
class Anchored:
    """Find the simulator's parameters from windows with anchored starts."""

    window_s: float = 0.5
    """Length of a window."""
    first_s: float = 0.2
    """Length of the windows of a first round, in which nothing runs away yet."""
    every_s: float = 0.25
    """How often a window begins."""
    windows: int = 100
    """Windows used at most; more are thinned out evenly."""
    iterations: int = 20
    """Least-squares iterations at most, in each round."""
    share: float = 0.01
    """Errors below this share of a channel's deviation are as good as none."""
    loose: float = 1.0
    """How many deviations of its measurement a start may stray as lightly as by one."""
    doubt: float = 0.0
    """Relative deviation that every parameter keeps where noise explains nothing of what is left over. For beliefs that others
    train over; it is no help to a forecast of motions like those in the logs."""

    def __post_init__(self) -> None:
        if (
            min(self.window_s, self.first_s, self.every_s, self.windows, self.iterations, self.share) <= 0
            or self.loose <= 0
            or self.doubt < 0
        ):
            raise GaplessError("an anchored fit needs positive lengths, counts and shares, and no negative doubt.")


@dataclass(frozen=True)
class _Point:
    """Parameters in deviations of the prior and starts in deviations of their anchors, with what they cost."""

    params: Float[np.ndarray, " param"]
    starts: Float[np.ndarray, "window state"]
    cost: float


def anchored(
    simulator: Simulator,
    prior: Gaussian,
    logs: list[Log],
    recipe: Anchored | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Gaussian:
    """The belief after `logs`; as wide as the windows' own misfit makes it, and as the recipe's doubt does."""
    recipe = recipe or Anchored()
    params = np.zeros(len(prior.names))
    for seconds in sorted({min(recipe.first_s, recipe.window_s), recipe.window_s}):
        search = _Search(simulator, prior, _windows(simulator, logs, seconds, recipe), logs, recipe)
        found = _descend(search, params, recipe.iterations, progress)
        params = found.params
    return search.belief(found)


def _windows(simulator: Simulator, logs: list[Log], seconds: float, recipe: Anchored) -> Windows:
    windows = cut(simulator, logs, seconds, recipe.every_s)
    if windows is None:
        raise GaplessError(f"no log is long enough for windows of {seconds} s. Record more, or lower window_s.")
    return thin(windows, recipe.windows)


def _descend(
    search: "_Search", params: np.ndarray, iterations: int, progress: Callable[[int, float], None] | None
) -> _Point:
    """Step after step, until two in a row gain next to nothing."""
    now, damping, slow = search.at(params, np.zeros_like(search.windows.start)), 1e-2, 0
    for k in range(iterations):
        found, damping = search.step(now, damping)
        slow = slow + 1 if found.cost > now.cost * (1 - 1e-3) else 0
        now = found
        if progress is not None:
            progress(k + 1, now.cost)
        if slow >= 2:
            break
    return now


class _Search:
    """Levenberg-Marquardt in deviations of prior and anchors."""

    def __init__(
        self, simulator: Simulator, prior: Gaussian, windows: Windows, logs: list[Log], recipe: Anchored
    ) -> None:
        self.prior, self.windows = prior, windows
        self.scale = np.sqrt(np.diag(prior.covariance))
        self.shooting = Shooting(simulator, windows, prior.names, nominal_belief(simulator.parameters).mean())
        noise, self.doubt = sensor_noise(logs), recipe.doubt
        spread = {name: float(np.mean([np.nanstd(log.measurements[name]) for log in logs])) for name in noise}
        self.level = np.array([max(noise[n], recipe.share * spread[n]) for n, _ in windows.columns])[windows.channel]
        self.noise = np.array([noise[n] for n, _ in windows.columns])[windows.channel]
        self.anchor = recipe.loose * np.array(list(start_doubts(simulator, logs).values()))

    def at(self, params: np.ndarray, starts: np.ndarray) -> _Point:
        """A point and its cost, its parameters within their bounds."""
        inside = (np.clip(self._values(params), self.prior.low, self.prior.high) - self.prior.centre) / self.scale
        values, begun = self._values(inside)[None], self.windows.start[None] + starts[None] * self.anchor
        z = np.abs(self.shooting.residuals(values, begun)[0] / self.level)
        robust = np.where(z < ROBUST, z**2, 2 * ROBUST * z - ROBUST**2)
        return _Point(inside, starts, float(robust.sum() + (starts**2).sum() + (inside**2).sum()))

    def step(self, now: _Point, damping: float) -> tuple[_Point, float]:
        """A better point, or the same where no damping helps."""
        slopes = self._slopes(now)
        for _ in range(TRIALS):
            change, moved, _ = self._solve(slopes, now, damping)
            found = self.at(now.params + change, now.starts + moved)
            if found.cost < now.cost:
                return found, max(damping / 10, 1e-6)
            damping *= 10
        return now, damping

    def belief(self, now: _Point) -> Gaussian:
        """The Gaussian around a point, widened by what the windows leave over."""
        slopes = self._slopes(now)
        information = self._solve(slopes, now, 0.0)[2]
        left = max(1.0, float(np.mean((slopes.residual / self.level) ** 2)))
        covariance = np.linalg.inv(information / left + np.eye(len(information)) * (1 - 1 / left))
        covariance = (covariance + covariance.T) / 2 * np.outer(self.scale, self.scale)
        wrong = lasting_doubt(float(np.mean((slopes.residual / self.noise) ** 2)), self.doubt)
        covariance += np.diag((wrong * self._values(now.params)) ** 2)
        return Gaussian(self.prior.names, self._values(now.params), covariance, self.prior.low, self.prior.high)

    def _values(self, params: np.ndarray) -> np.ndarray:
        return self.prior.centre + params * self.scale

    def _slopes(self, now: _Point) -> Slopes:
        return self.shooting.slopes(self._values(now.params), self.windows.start + now.starts * self.anchor, self.scale)

    def _solve(self, slopes: Slopes, now: _Point, damping: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Changes of parameters and starts, and the information about the former with the latter eliminated."""
        z = slopes.residual / self.level
        weight = np.sqrt(np.minimum(1.0, ROBUST / np.maximum(np.abs(z), 1e-9)))
        r, per = z * weight, (weight / self.level)[..., None]
        jp, js = slopes.by_param * self.scale * per, slopes.by_start * self.anchor * per
        h_ss = np.linalg.inv(np.einsum("wqs,wqt->wst", js, js) + (1 + damping) * np.eye(js.shape[2]))
        h_sp, g_s = np.einsum("wqs,wqp->wsp", js, jp), np.einsum("wqs,wq->ws", js, r) + now.starts
        a = np.einsum("wqp,wqr->pr", jp, jp) - np.einsum("wsp,wst,wtr->pr", h_sp, h_ss, h_sp) + np.eye(jp.shape[2])
        b = np.einsum("wqp,wq->p", jp, r) - np.einsum("wsp,wst,wt->p", h_sp, h_ss, g_s) + now.params
        change = -np.linalg.solve(a + damping * np.diag(np.diag(a)), b)
        return change, -np.einsum("wst,wt->ws", h_ss, g_s + h_sp @ change), a


def start_doubts(simulator: Simulator, logs: list[Log]) -> dict[str, float]:
    """How far a start may be from its guess, by joint and side: the noise of what was measured, and of its slope over a few
    samples."""
    joints, noise = read_joints(simulator), sensor_noise(logs)
    found = {f"{j}.{side}": 0.1 for side in ("position", "velocity") for j in joints}
    for name, (joint, side) in simulator.sensed.items():
        found[f"{joint}.{side}"] = noise[name]
        if side == "position" and (joint, "velocity") not in simulator.sensed.values():
            clock = logs[0].measurement_time[name]
            lever = np.sqrt(2 * (np.arange(1, SLOPE_SAMPLES + 1) ** 2).sum()) * float(np.median(np.diff(clock)))
            found[f"{joint}.velocity"] = noise[name] / lever
    return found
