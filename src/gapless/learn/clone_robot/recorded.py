"""Windows of real logs as a clone meets them: what it is told, where each begins, and what is left once its start is refitted."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from gapless.core import Belief, Log, Params, Simulator, nominal_belief
from gapless.simulators.mujoco_cpu import MujocoSimulator
from gapless.simulators.neural.clone import Clone
from gapless.simulators.neural.simulator import CloneSimulator
from gapless.simulators.neural.skeleton import Skeleton

from ..least_squares import fit_starts, leftover, told_of_starts
from ..noise import sensor_noise
from ..shooting import Shooting, Slopes, centre_of
from ..windows import Windows, cut, per_query, read_joints, thin
from .fit import foretold
from .lessons import Lessons


class Recorded(NamedTuple):
    """Windows, each leaf leading with the window; errors are in units of the level."""

    begun: Lessons
    """Their starts, with what the clone is told of commands and parameters."""
    low: Int[Array | np.ndarray, "window query"]
    """The period in which each sample was taken."""
    blend: Float[Array | np.ndarray, "window query 4"]
    """How it follows from the positions and velocities at both ends of that period."""
    measured: Float[Array | np.ndarray, "window query"]
    level: Float[Array | np.ndarray, "window query"]
    """What counts as one unit of error; infinite where nothing was measured."""
    keep: Float[Array | np.ndarray, "window query query"]
    """Takes from an error what another start would explain, to first order."""
    simulated: Float[Array | np.ndarray, "window query"]
    """What the simulator leaves of the same windows, its own starts refitted."""


class Seen(NamedTuple):
    """What each sample of a window reads."""

    joint: Int[np.ndarray, " query"]
    angle: Bool[np.ndarray, " query"]


class Windowed:
    """Windows of logs, and what the identified simulator makes of them."""

    def __init__(self, physics: MujocoSimulator, belief: Belief, windows: Windows, logs: list[Log]) -> None:
        self.windows, self.belief = windows, belief
        noise = per_query(windows, sensor_noise(logs))
        starts, slopes = _refitted(physics, belief, windows, noise)
        # Where the model is far off, its own misfit is the unit; the sensors' noise where it is not.
        self.level = np.maximum(noise, leftover(slopes.residual, windows.channel)[windows.channel])
        self._starts, self._simulated = starts, _left(slopes, self.level)[1]
        units = {c.name: c.unit for c in physics.interface.measurements}
        columns = [(physics.joints.index(physics.sensed[n][0]), units[n] == "rad") for n, _ in windows.columns]
        joint, angle = (np.array(side)[windows.channel] for side in zip(*columns, strict=True))
        self.seen = Seen(joint, angle)

    def met_by(self, simulator: CloneSimulator) -> Recorded:
        """The windows with the starts that suit a clone best."""
        starts, slopes = _refitted(simulator, self.belief, self.windows, self.level)
        mean = {k: float(np.asarray(v)) for k, v in self.belief.mean().items()}
        low, blend, offset = _read(simulator, self.windows, mean)
        level = np.where(self.windows.present, self.level, np.inf)
        return Recorded(
            self._begun(simulator, starts, mean), low, blend, self.windows.measured - offset, level,
            _left(slopes, self.level)[0], self._simulated,
        )  # fmt: skip

    def _begun(self, simulator: CloneSimulator, starts: np.ndarray, mean: Params) -> Lessons:
        count, joints = len(self.windows), read_joints(simulator)
        names = [f"{j}.{side}" for side in ("position", "velocity") for j in joints]
        begun = simulator.begun({n: starts[:, i : i + 1] for i, n in enumerate(names)}, count)
        params = {k: np.full(count, v) for k, v in mean.items()}
        told = simulator.told(params, self.windows.holds(1), self.windows.times.max())
        position, velocity = (np.asarray(side)[:, None] for side in begun)
        shares = np.asarray(simulator.with_worlds(count).shares(params))
        return Lessons(position, velocity, np.asarray(told), shares, np.ones((count, 1), np.float32))


def windowed(physics: MujocoSimulator, belief: Belief, logs: list[Log], window_s: float, most: int) -> Windowed | None:
    """The logs in windows, each half over the next; None where none is long enough."""
    windows = cut(physics, logs, window_s, window_s / 2)
    return None if windows is None else Windowed(physics, belief, thin(windows, most), logs)


def errors(clone: Clone, skeleton: Skeleton, seen: Seen, piece: Recorded) -> Float[Array, "window query"]:
    """What a clone's forecast leaves of each window, in units of the level, once its start is refitted."""
    position, velocity = foretold(clone, skeleton, piece.begun)
    rows = jnp.arange(len(piece.low))[:, None]
    ends = [side[rows, piece.low + k, seen.joint] for side in (position, velocity) for k in (0, 1)]
    off = (jnp.stack(ends, -1) * piece.blend).sum(-1) - piece.measured
    off = jnp.where(seen.angle, jnp.arctan2(jnp.sin(off), jnp.cos(off)), off)
    return jnp.einsum("wqr,wr->wq", piece.keep, off / piece.level)


def _refitted(
    simulator: Simulator, belief: Belief, windows: Windows, level: np.ndarray
) -> tuple[Float[np.ndarray, "window state"], Slopes]:
    names, centre = centre_of(belief)
    shooting = Shooting(simulator, windows, names, nominal_belief(simulator.parameters).mean())
    return fit_starts(shooting, centre, level, np.ones(len(level)))


def _left(slopes: Slopes, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What takes from errors in units of the level what starts explain, and what is left of these."""
    js = slopes.by_start / level[:, None]
    keep = np.eye(js.shape[1]) - js @ np.linalg.solve(told_of_starts(js), np.swapaxes(js, 1, 2))
    return keep.astype(np.float32), np.einsum("wqr,wr->wq", keep, slopes.residual / level).astype(np.float32)


def _read(
    simulator: CloneSimulator, windows: Windows, params: Params
) -> tuple[Int[np.ndarray, "window query"], Float[np.ndarray, "window query 4"], Float[np.ndarray, " query"]]:
    """How samples follow from the ends of their periods: cubic for positions, straight for velocities; and their bias."""
    period_s = simulator.interface.period_s
    at = windows.times / period_s
    low = np.clip(at.astype(int), 0, int(np.ceil(at.max() - 1e-9)) - 1)
    s = np.clip(at - low, 0, 1)
    cubic = [(1 + 2 * s) * (1 - s) ** 2, s**2 * (3 - 2 * s), period_s * s * (1 - s) ** 2, -period_s * s**2 * (1 - s)]
    plain = [0 * s, 0 * s, 1 - s, s]
    slow = np.array([simulator.sensed[n][1] == "position" for n, _ in windows.columns])[windows.channel]
    scale, bias = (
        np.array([params.get(f"{n}.{q}", otherwise) for n, _ in windows.columns])[windows.channel]
        for q, otherwise in (("scale", 1.0), ("bias", 0.0))
    )
    blend = np.where(slow[:, None], np.stack(cubic, -1), np.stack(plain, -1)) * scale[:, None]
    return low, blend.astype(np.float32), bias
