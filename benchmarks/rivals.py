"""The same fit by others: `mujoco.sysid` and plain CMA-ES, same logs, parameters, bounds and starts, each with a clock.

Everyone's parameters are judged alike: held-out windows of half a second, each start fitted, error in units of the noise. Only
a rival's own work counts as its time, not the judging.
"""

import contextlib
import io
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cma
import mujoco
import numpy as np
from jaxtyping import Float
from mujoco import sysid

from gapless.core import Gaussian, Log, nominal_belief, prior_belief
from gapless.learn.least_squares import fit_starts, told_of_starts
from gapless.learn.noise import sensor_noise
from gapless.learn.shooting import START_STEP, Shooting
from gapless.learn.windows import cut, per_query, thin
from gapless.simulators import MujocoSimulator
from gapless.simulators.latency import integrator_lead_s
from glue import ITERATIONS, Residual

JUDGED_S, WINDOW_S, WINDOWS, GENERATIONS = 0.5, 0.4, 120, 120
REACHED = 1.05
"""A rival has come as far as we have when its held-out error is within this factor of ours."""
Values = Float[np.ndarray, " param"]


@dataclass
class Clock:
    """Seconds of work, without those spent on judging, and when each better point was found."""

    began: float = field(default_factory=time.perf_counter)
    trace: list[tuple[float, Values]] = field(default_factory=list)
    best: float = np.inf

    def saw(self, values: Values, cost: float) -> None:
        if cost < self.best * (1 - 1e-3):
            self.best = cost
            self.passed(values)

    def passed(self, values: Values) -> None:
        self.trace.append((self.seconds, np.array(values)))

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began


class HeldOut:
    """The judge of all: the error of parameters on logs that nobody fitted, in units of the sensors' noise."""

    def __init__(self, simulator: MujocoSimulator, logs: list[Log], names: tuple[str, ...]) -> None:
        windows = cut(simulator, logs, JUDGED_S)
        assert windows is not None
        self._level = per_query(windows, sensor_noise(logs))
        self._shooting = Shooting(simulator, windows, names, nominal_belief(simulator.parameters).mean())

    def error(self, values: Values) -> float:
        slopes = fit_starts(self._shooting, values, self._level, np.ones(len(self._level)))[1]
        z = (slopes.residual / self._level)[self._shooting.windows.present]
        return float(np.sqrt(np.mean(np.clip(z, -1e3, 1e3) ** 2)))

    def reached(self, trace: list[tuple[float, Values]], wanted: float) -> float | None:
        """When a rival's best parameters first were as good as wanted; None if never."""
        return next((seconds for seconds, values in trace if self.error(values) <= wanted), None)

    def settled(self, trace: list[tuple[float, Values]], wanted: float) -> float | None:
        """From when on parameters were always as good as wanted; None if the last ones are not."""
        since = None
        for seconds, values in reversed(trace):
            if self.error(values) > wanted:
                break
            since = seconds
        return since


@dataclass(frozen=True)
class Theirs:
    """What `mujoco.sysid` found, in our convention of latency, and half the width of its own 95 % intervals."""

    values: Values
    half_width: Values
    clock: Clock
    seconds: float


def by_sysid(simulator: MujocoSimulator, spec: mujoco.MjSpec, logs: list[Log]) -> Theirs:
    """Their fit from the nominal values, with everything it tried on the way."""
    free = [p for p in simulator.parameters if p.free]
    clock = Clock()
    residual = Residual(simulator, spec, logs, free)
    lead = np.array([integrator_lead_s(simulator.model) if p.name == "command.latency" else 0.0 for p in free])

    def watched(values: Values, params: Any) -> Any:
        found = residual.call(values, params)
        clock.saw(values - lead, float(np.mean(np.nan_to_num(np.concatenate(found[0]), nan=1e3) ** 2)))
        return found

    start = residual.params.copy()
    start.move_off_bounds()
    options = {"optimizer": "scipy", "verbose": False, "max_iters": ITERATIONS, "x_scale": "jac"}
    with contextlib.redirect_stdout(io.StringIO()):  # their optimizer prints whatever `verbose` says
        found, result = sysid.optimize(start, watched, **options)
    seconds = clock.seconds
    left = residual.call(found.as_vector(), residual.params)[0]
    half_width = sysid.calculate_intervals(left, result.jac)[1]
    return Theirs(found.as_vector() - lead, np.asarray(half_width), clock, seconds)


def by_cma(
    simulator: MujocoSimulator, logs: list[Log], seed: int, enough: Callable[[Values], bool]
) -> tuple[Clock, float | None]:
    """Plain CMA-ES on the windows' cost until it is good enough or its budget is spent; and when it was good enough."""
    prior, clock = prior_belief(simulator.parameters), Clock()
    windows = cut(simulator, logs, WINDOW_S)
    assert windows is not None
    shooting = Shooting(simulator, thin(windows, WINDOWS), prior.names, nominal_belief(simulator.parameters).mean())
    level, scale = per_query(shooting.windows, sensor_noise(logs)), np.sqrt(np.diag(prior.covariance))
    search = cma.CMAEvolutionStrategy(np.zeros(len(scale)), 0.5, _options(prior, scale, seed))
    while not search.stop():
        asked = search.ask()
        search.tell(asked, _costs(shooting, prior.centre + np.array(asked) * scale, level).tolist())
        paused = time.perf_counter()
        values = np.clip(prior.centre + np.asarray(search.result.xbest) * scale, prior.low, prior.high)
        if enough(values):
            return clock, paused - clock.began
        clock.began += time.perf_counter() - paused
    return clock, None


def _options(prior: Gaussian, scale: Values, seed: int) -> dict[str, Any]:
    box = [((side - prior.centre) / scale).tolist() for side in (prior.low, prior.high)]
    return {"seed": seed + 1, "bounds": box, "verbose": -9, "maxiter": GENERATIONS}


def _costs(
    shooting: Shooting, params: Float[np.ndarray, "copy param"], level: Float[np.ndarray, " query"]
) -> Float[np.ndarray, " copy"]:
    """Mean square residuals, each window's start refitted by one Gauss-Newton step, all candidates in two calls."""
    guess, copies = shooting.windows.start, len(params)
    states = guess.shape[1]
    begun = np.tile(guess, (1 + states, 1, 1))
    begun[1 + np.arange(states), :, np.arange(states)] += START_STEP
    off = shooting.residuals(np.repeat(params, 1 + states, axis=0), np.tile(begun, (copies, 1, 1)))
    off = off.reshape(copies, 1 + states, *off.shape[1:]) / level
    slopes = np.moveaxis(off[:, 1:] - off[:, :1], 1, -1).reshape(-1, off.shape[-1], states) / START_STEP
    rest = np.clip(off[:, 0], -1e3, 1e3).reshape(-1, off.shape[-1])
    step = np.linalg.solve(told_of_starts(slopes), np.einsum("wqs,wq->ws", slopes, rest)[..., None])[..., 0]
    z = shooting.residuals(params, guess - step.reshape(copies, *guess.shape)) / level
    return np.mean(np.clip(z, -1e3, 1e3) ** 2, axis=(1, 2))
