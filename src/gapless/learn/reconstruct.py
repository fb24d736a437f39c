"""An episode that happened, as worlds in which to play it again: where it started, and on what robot, both with their doubt."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Gaussian, Log, Simulator, nominal_belief
from gapless.core.belief import columns_of

from .identify import Identify, identify
from .noise import sensor_noise
from .shooting import Shooting
from .windows import cut_at, per_query, read_joints

STRETCH_S = 0.3
"""The first part of a log, from which its start is fitted."""
LONG_ENOUGH_S = 1.0
"""Logs below this say too little about the robot to be learnt from alone."""
LEAST_ROWS = 8
"""Measurements that a start is fitted to at least."""
DRAWS = 8
"""Robots of the belief on which a start is fitted."""
ROUNDS = 3
UNREAD = 0.1
"""Deviation of a state that nothing measures, in its SI unit."""
BEFORE_S = 1.0
"""How long before its first command a robot is taken to have rested."""


class State(NamedTuple):
    """Positions and velocities of all joints that are read, and how surely they are known."""

    value: Float[np.ndarray, " state"]
    deviation: Float[np.ndarray, " state"]


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
    anchor, level = _anchor(simulator, log), per_query(windows, sensor_noise([log]))
    drawn = columns_of(belief.names, belief.sample(jax.random.key(0), DRAWS))
    fits = [_held(shooting, np.asarray(row, np.float64), level, anchor) for row in drawn]
    found, told = np.array([fit.value for fit in fits]), np.array([fit.deviation for fit in fits])
    centre, reach = found.mean(axis=0), np.sqrt(3.0 * (found.var(axis=0) + (told**2).mean(axis=0)))
    sides = [f"{joint}.{side}" for side in ("position", "velocity") for joint in read_joints(simulator)]
    return {n: (float(v - r), float(v + r)) for n, v, r in zip(sides, centre, reach, strict=True)}


def _held(shooting: Shooting, params: np.ndarray, level: Float[np.ndarray, " query"], anchor: State) -> State:
    """The start that fits the stretch on one robot, held by its anchor: a wrong robot must not begin elsewhere to be right.

    Where the robot does not explain the stretch, the stretch says as much less.
    """
    named = dict(zip(shooting.names, params, strict=True))
    fixed, none = Shooting(shooting.simulator, shooting.windows, (), shooting.fixed | named), np.empty(0)
    start, surely, normal = anchor.value, 1 / anchor.deviation**2, np.eye(len(anchor.value))
    for _ in range(ROUNDS):
        slopes = fixed.slopes(none, start[None], none)
        j, r = slopes.by_start[0] / level[:, None], slopes.residual[0] / level
        misfit = max(1.0, float(np.mean(r[shooting.windows.present[0]] ** 2)))
        normal = j.T @ j / misfit + np.diag(surely)
        start = start - np.linalg.solve(normal, j.T @ r / misfit + surely * (start - anchor.value))
    return State(start, np.sqrt(np.diag(np.linalg.inv(normal))))


def _anchor(simulator: Simulator, log: Log) -> State:
    """What the first measurements alone say of the start: a parabola through them, at its beginning."""
    noise, joints = sensor_noise([log]), read_joints(simulator)
    found = {(joint, side): (0.0, UNREAD) for side in ("position", "velocity") for joint in joints}
    for name, (joint, side) in simulator.sensed.items():
        clock, values = log.measurement_time[name][:LEAST_ROWS], log.measurements[name][:LEAST_ROWS, 0]
        curve = np.vander(clock - clock[0], 3, increasing=True)
        fit = np.linalg.lstsq(curve, np.nan_to_num(values), rcond=None)[0]
        doubt = noise[name] * np.sqrt(np.diag(np.linalg.inv(curve.T @ curve)))
        found[joint, side] = float(fit[0]), float(doubt[0])
        if side == "position" and (joint, "velocity") not in simulator.sensed.values():
            found[joint, "velocity"] = float(fit[1]), float(doubt[1])
    return State(*(np.array(v) for v in zip(*found.values(), strict=True)))


def _after_rest(log: Log) -> Log:
    """The log with a command of nothing before its first, as episodes begin in simulators, too."""
    return replace(
        log,
        commands={name: np.concatenate([np.zeros_like(v[:1]), v]) for name, v in log.commands.items()},
        command_time=np.concatenate([log.command_time[:1] - BEFORE_S, log.command_time]),
    )
