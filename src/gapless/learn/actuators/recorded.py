"""A joint as the logs show it: command, motion, torque where it was measured, and what the model says of its load."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import jax.numpy as jnp
import mujoco
import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Log
from gapless.logs.align import on_grid
from gapless.simulators import MujocoSimulator
from gapless.simulators.binding import index_of
from gapless.simulators.driven import Driven
from gapless.simulators.joints import PLANT, Pieces
from gapless.simulators.surroundings import surroundings

from .torque import Measured

LATENCY = PLANT[0]
SMOOTH_S = 0.03
"""Rates are slopes of parabolas over this long a time to either side, and at least three samples."""
KNOWN = ("inertia", "load", "pull")
"""What the model says at each sample."""
ONCE = ("start", "before")
"""What is known of a window's beginning only."""


@dataclass(frozen=True)
class Windows:
    """Windows of one joint on a uniform clock, each array (window, time)."""

    target: Float[np.ndarray, "window time"]
    position: Float[np.ndarray, "window time"]
    velocity: Float[np.ndarray, "window time"]
    inertia: Float[np.ndarray, "window time"]
    load: Float[np.ndarray, "window time"]
    pull: Float[np.ndarray, "window time"]
    torque: Float[np.ndarray, "window time"]
    """As measured, or else as motion and model imply it."""
    start: Float[np.ndarray, " window"]
    """Where each begins, noise smoothed away."""
    before: Float[np.ndarray, "window past"]
    """Targets before it, the newest last."""
    period_s: float

    def __len__(self) -> int:
        return len(self.target)

    def some(self, chosen: np.ndarray) -> "Windows":
        """A few of them."""
        arrays = {k: v[chosen] for k, v in vars(self).items() if k != "period_s"}
        return replace(self, **arrays)

    @property
    def measured(self) -> Measured:
        """As fits from torque take them."""
        rows = (self.target, self.position, self.velocity, self.torque)
        return Measured(*(jnp.asarray(r, jnp.float32) for r in rows), period_s=self.period_s)

    @property
    def pieces(self) -> Pieces:
        """As fits from motion take them: one joint."""

        def held(rows: np.ndarray) -> jnp.ndarray:
            return jnp.asarray(rows, jnp.float32)[..., None]

        seen = held(self.position)
        inputs = {k: held(getattr(self, k)) for k in ("target", "before", *KNOWN)} | {"about": seen}
        return Pieces(held(self.start), held(self.velocity)[:, 0], inputs, seen)


def windows_of(simulator: MujocoSimulator, driven: Driven, logs: Sequence[Log], seconds: float, most: int) -> Windows:
    """At most so many windows, spread over all logs."""
    period_s = simulator.interface.period_s
    length, margin = max(8, round(seconds / period_s)), _margin(period_s)
    found = [w for log in logs for w in _cut(_rows(simulator, driven, log, margin), length)]
    if not found:
        raise GaplessError(
            f"no log is long enough to learn the actuator of {driven.joint} from: {length + 2 * margin} samples "
            f"({(length + 2 * margin) * period_s:.2g} s) in a row are needed on either side. Collect or import longer ones."
        )
    kept = np.unique(np.linspace(0, len(found) - 1, min(most, len(found))).round().astype(int))
    return Windows(**{k: np.stack([found[i][k] for i in kept]) for k in found[0]}, period_s=period_s)


def _cut(rows: dict[str, np.ndarray], length: int) -> list[dict[str, np.ndarray]]:
    begins = range(0, len(rows["target"]) - length + 1, length)
    return [{k: v[a] if k in ONCE else v[a : a + length] for k, v in rows.items()} for a in begins]


def _rows(simulator: MujocoSimulator, driven: Driven, log: Log, margin: int) -> dict[str, np.ndarray]:
    """Everything about the joint on one clock, without the ends at which no slope is known."""
    model, period_s = simulator.model, simulator.interface.period_s
    even = on_grid(_unwrapped(simulator, log), period_s)
    inside = slice(margin, max(margin, len(even) - margin))
    if len(even) <= 2 * margin:
        return {"target": np.empty(0)}
    positions = np.tile(model.qpos0, (len(even), 1))
    velocities, accelerations = (np.zeros((len(even), model.nv)) for _ in range(2))
    smooth, target = positions.copy(), driven.scale * even.commands[driven.command][:, 0]
    for name, (joint, quantity) in simulator.sensed.items():
        if quantity == "position" and joint in simulator.joints:
            number = index_of(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
            place, dof = int(model.jnt_qposadr[number]), int(model.jnt_dofadr[number])
            positions[:, place] = even.measurements[name][:, 0]
            smooth[:, place], velocities[:, dof], accelerations[:, dof] = _rates(positions[:, place], period_s)
    dof, place = int(model.jnt_dofadr[driven.number]), int(model.jnt_qposadr[driven.number])
    if driven.velocity is not None:
        velocities[:, dof] = even.measurements[driven.velocity][:, 0]
    around = surroundings(model, driven.number, positions[inside], velocities[inside], accelerations[inside])
    implied = around.inertia * accelerations[inside, dof] - around.load
    return {
        "target": target[inside],
        "start": smooth[inside, place],
        "before": np.lib.stride_tricks.sliding_window_view(target, margin)[: len(target) - 2 * margin],
        "position": positions[inside, place],
        "velocity": velocities[inside, dof],
        "torque": implied if driven.torque is None else driven.felt * even.measurements[driven.torque][inside, 0],
        **{k: getattr(around, k) for k in KNOWN},
    }


def _unwrapped(simulator: MujocoSimulator, log: Log) -> Log:
    """Angles that jump by a turn from one sample to the next go on instead."""
    turning = [
        n for n, (_, q) in simulator.sensed.items() if q == "position" and log.interface.channel(n).unit == "rad"
    ]
    return replace(log, measurements=log.measurements | {n: np.unwrap(log.measurements[n], axis=0) for n in turning})


def _margin(period_s: float) -> int:
    """Samples at either end of a log that serve slopes and the commands before a window."""
    return max(3, math.ceil(SMOOTH_S / period_s), math.ceil(LATENCY.high / period_s))


def _rates(values: Float[np.ndarray, " time"], period_s: float) -> Float[np.ndarray, "3 time"]:
    """Position, velocity and acceleration of the parabola through the samples around each one; zero at the ends."""
    reach = max(3, math.ceil(SMOOTH_S / period_s))
    time = np.arange(-reach, reach + 1) * period_s
    fit = np.linalg.pinv(np.stack([np.ones_like(time), time, time**2], axis=1))
    found = np.zeros((3, len(values)))
    around = np.lib.stride_tricks.sliding_window_view(values, len(time))
    found[:, reach:-reach] = (fit * np.array([[1], [1], [2]])) @ around.T
    return found
