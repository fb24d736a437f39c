"""An episode that happened, as worlds in which to play it again: where it started, and on what robot, both with their doubt."""

from dataclasses import dataclass, replace

import jax
import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Gaussian, Log, Simulator, nominal_belief
from gapless.core.belief import columns_of

from .identify import Identify, identify
from .least_squares import fit_starts
from .noise import sensor_noise
from .shooting import Shooting, Slopes
from .windows import Windows, cut_at, per_query, read_joints

STRETCH_S = 0.3
"""The first part of a log, from which its start is fitted."""
LONG_ENOUGH_S = 1.0
"""Logs below this say too little about the robot to be learnt from alone."""
LEAST_ROWS = 8
"""Measurements that a start is fitted to at least."""
DRAWS = 8
"""Robots of the belief on which a start is fitted."""
BEFORE_S = 1.0
"""How long before its first command a robot is taken to have rested."""


@dataclass(frozen=True)
class Reconstructed:
    """What a simulator needs to play an episode again."""

    belief: Gaussian
    """The robot's parameters, given what was known before and this log."""
    start: dict[str, tuple[float, float]]
    """`<joint>.position` and `<joint>.velocity`: ranges with the fitted value in the middle and its deviation as spread."""
    chi_square: float | None
    """How well the log is explained, 1 where up to noise; None where it was too short to learn from."""


def reconstruct(simulator: Simulator, prior: Gaussian, log: Log, recipe: Identify, seed: int) -> Reconstructed:
    """The worlds that a log may have happened in, given what was believed about its robot before."""
    simulator.interface.require_same(log.interface, "the simulator", "the log")
    belief, chi_square = without_noise(prior), None
    if log.seconds >= LONG_ENOUGH_S:
        found = identify(simulator, belief, [log], [log], recipe, seed)
        belief, chi_square = found.belief, found.chi_square
    return Reconstructed(belief, _start(simulator, belief, log), chi_square)


def without_noise(belief: Gaussian) -> Gaussian:
    """The belief about the physics: how noisy the sensors are is read off the log itself."""
    kept = [k for k, name in enumerate(belief.names) if not name.endswith(".noise")]
    return Gaussian(
        tuple(belief.names[k] for k in kept),
        belief.centre[kept],
        belief.covariance[np.ix_(kept, kept)],
        belief.low[kept],
        belief.high[kept],
    )


def _start(simulator: Simulator, belief: Gaussian, log: Log) -> dict[str, tuple[float, float]]:
    """The start that explains the first stretch, on average over the belief; a uniform range has √3 deviations to each side."""
    begin_s = max(float(clock[0]) for clock in log.measurement_time.values() if len(clock))
    windows = cut_at(simulator, [_after_rest(log)], [(0, begin_s)], STRETCH_S)
    if min((windows.channel == k).sum() for k in range(len(windows.columns))) < LEAST_ROWS:
        raise GaplessError(
            f"the log is over after {log.seconds:.2f} s, too early to say where it started. Choose another."
        )
    shooting = Shooting(simulator, windows, belief.names, nominal_belief(simulator.parameters).mean())
    level = per_query(windows, sensor_noise([log]))
    drawn = columns_of(belief.names, belief.sample(jax.random.key(0), DRAWS))
    fits = [fit_starts(shooting, np.asarray(row, np.float64), level, np.ones(len(level))) for row in drawn]
    found = np.array([starts[0] for starts, _ in fits])
    told = np.mean([_deviation(slopes, windows, level) ** 2 for _, slopes in fits], axis=0)
    centre, reach = found.mean(axis=0), np.sqrt(3.0 * (found.var(axis=0) + told))
    sides = [f"{joint}.{side}" for side in ("position", "velocity") for joint in read_joints(simulator)]
    return {n: (float(v - r), float(v + r)) for n, v, r in zip(sides, centre, reach, strict=True)}


def _deviation(slopes: Slopes, windows: Windows, level: Float[np.ndarray, " query"]) -> Float[np.ndarray, " state"]:
    """How surely one window tells its start, in SI units; its own misfit counts where that is above the noise."""
    j = slopes.by_start[0] / level[:, None]
    misfit = max(1.0, float(np.mean((slopes.residual[0] / level)[windows.present[0]] ** 2)))
    covariance = np.linalg.inv(j.T @ j + 1e-9 * np.trace(j.T @ j) * np.eye(j.shape[1]) + 1e-9 * np.eye(j.shape[1]))
    return np.sqrt(misfit * np.diag(covariance))


def _after_rest(log: Log) -> Log:
    """The log with a command of nothing before its first, as episodes begin in simulators, too."""
    return replace(
        log,
        commands={name: np.concatenate([np.zeros_like(v[:1]), v]) for name, v in log.commands.items()},
        command_time=np.concatenate([log.command_time[:1] - BEFORE_S, log.command_time]),
    )
