"""The XL330 on its pendulum bench: six refitted friction laws, and the ladder with what they leave out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Parameter, Params
from gapless.learn.actuators.ladder import Rung, ladder
from gapless.learn.actuators.motion import MatchMotion, fit_folds
from gapless.simulators.joints import Joints, Pieces
from gapless.simulators.parts.friction import LAWS
from recordings_servos import BenchLog, bench_logs

PERIOD_S, SUBSTEPS, REMEMBERED = 0.005, 2, 8
GRAVITY = 9.80665
GAIN = 0.0028774
"""Duty per radian and unit of the register kp."""
BENCH = (
    Parameter("arm.mass", "kg", 0.01, 1e-3, 0.06, "inertia"),
    Parameter("load.offset", "rad", 0.0, -0.15, 0.15, "sensing"),
)
KNOWN = {"motor.gain": GAIN, "motor.lead": 0.0, "motor.supply": 7.4, "motor.current": 50.0}
"""From the servo's registers and the recordings' metadata; the current has no limit of its own."""
PEER = ("motor.bias", "motor.sag", "command.latency", "arm.mass")
"""What the six laws' authors leave out."""
RECIPE = MatchMotion(tolerable_rad=0.02, iterations=25, prior=1e-3)


def pieces_of(logs: Sequence[BenchLog]) -> tuple[Pieces, np.ndarray]:
    """Whole logs side by side, cut to the shortest, and the moment of each log's weight m g l."""
    length = min(len(log.position) for log in logs)

    def rows(name: str) -> jnp.ndarray:
        return jnp.asarray(np.stack([getattr(log, name)[:length] for log in logs])[..., None], jnp.float32)

    def each(name: str) -> jnp.ndarray:
        values = np.array([getattr(log, name) for log in logs])
        return jnp.asarray(np.broadcast_to(values[:, None, None], (len(logs), length, 1)), jnp.float32)

    inputs = {"target": rows("goal"), "enabled": rows("enabled"), "gain_scale": each("kp")}
    return Pieces(rows("position")[:, 0], rows("speed")[:, 0], inputs, rows("position")), length


def bench(rung: Rung, mass_kg: float, length_m: float) -> Joints:
    """The pendulum with the actuator of a rung; position 0 hangs."""

    def load(params: Params, position: jnp.ndarray) -> jnp.ndarray:
        moment = GRAVITY * length_m * (mass_kg + params["arm.mass"] / 2)
        return -moment * jnp.sin(position + params["load.offset"])

    def inertia(params: Params, position: jnp.ndarray) -> jnp.ndarray:
        carried = (mass_kg + params["arm.mass"] / 3) * length_m**2
        return params["joint.inertia"] + carried + 0 * position

    return Joints(rung.actuator, rung.friction, load, inertia, PERIOD_S, SUBSTEPS, REMEMBERED)
