"""The XL330 on its pendulum bench: six refitted friction laws, and the ladder with what they leave out."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Parameter, Params
from gapless.learn.actuators.ladder import Rung, ladder
from gapless.learn.actuators.motion import MatchMotion, fit_folds
from gapless.simulators.joints import Joints, Pieces
from gapless.simulators.parts.friction import LAWS
from recordings_servos import BenchLog

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
BEGIN = {
    "motor.constant": 0.38,
    "motor.resistance": 3.5,
    "joint.inertia": 0.0018,
    "friction.coulomb": 0.012,
    "friction.viscous": 0.005,
}
"""About the nominal model."""
RECIPE = MatchMotion(tolerable_rad=0.02, iterations=20, prior=1e-3)


def pieces_of(logs: Sequence[BenchLog], length: int) -> Pieces:
    """Logs side by side, each cut to a length or held at its end up to it."""

    def rows(name: str) -> jnp.ndarray:
        values = [getattr(log, name)[:length] for log in logs]
        held = [np.pad(v, (0, length - len(v)), mode="edge") for v in values]
        return jnp.asarray(np.stack(held)[..., None], jnp.float32)

    kp = np.broadcast_to(np.array([log.kp for log in logs])[:, None, None], (len(logs), length, 1))
    inputs = {"target": rows("goal"), "enabled": rows("enabled"), "gain_scale": jnp.asarray(kp, jnp.float32)}
    return Pieces(rows("position")[:, 0], rows("speed")[:, 0], inputs, rows("position"))


def bench(rung: Rung, logs: Sequence[BenchLog]) -> Joints:
    """The logs' pendulums with the actuator of a rung; position 0 hangs."""
    mass, length = (jnp.asarray([[getattr(log, k)] for log in logs], jnp.float32) for k in ("mass_kg", "length_m"))

    def load(params: Params, position: jnp.ndarray) -> jnp.ndarray:
        moment = GRAVITY * length * (mass + params["arm.mass"] / 2)
        return -moment * jnp.sin(position + params["load.offset"])

    def inertia(params: Params, position: jnp.ndarray) -> jnp.ndarray:
        return params["joint.inertia"] + (mass + params["arm.mass"] / 3) * length**2

    return Joints(rung.actuator, rung.friction, load, inertia, PERIOD_S, SUBSTEPS, REMEMBERED)


def rungs() -> dict[str, tuple[Rung, tuple[str, ...]]]:
    """The six laws as their authors fit them, and the ladder; with what each takes as known."""
    laws = {law: (ladder(law)[2], PEER) for law in LAWS}
    motor, friction = ladder("m6")[1:]
    return laws | {"motor": (motor, ("motor.bias",)), "friction": (friction, ())}


def learn(logs: Sequence[BenchLog], used: np.ndarray, name: str, quick: bool = False) -> list[Params]:
    """The params of one model for each fold of the logs."""
    rung, out = rungs()[name]
    free, begins = _begins(rung, out)
    pieces = pieces_of(logs, min(len(log.position) for log in logs))
    recipe = replace(RECIPE, iterations=6) if quick else RECIPE
    return fit_folds(bench(rung, logs), free, begins[: 1 if quick else None], pieces, used, recipe)


def errors(logs: Sequence[BenchLog], name: str, params: Params) -> np.ndarray:
    """Mean |position error| of each log, rolled out from its start."""
    pieces = pieces_of(logs, max(len(log.position) for log in logs))
    play = jax.jit(partial(bench(rungs()[name][0], logs).play, pieces=pieces, key=jax.random.key(0)))
    missed = np.abs(np.asarray(play(params) - pieces.seen))[..., 0]
    return np.array([m[: len(log.position)].mean() for m, log in zip(missed, logs, strict=True)])


def nominal(peer: dict[str, Any]) -> Params:
    """The authors' own fit of the first law, without their offset: the nominal model."""
    values = _known(PEER) | {
        "motor.constant": peer["kt"],
        "motor.resistance": peer["R"],
        "joint.inertia": peer["armature"],
        "friction.coulomb": peer["friction_base"],
        "friction.viscous": peer["friction_viscous"],
        "load.offset": 0.0,
    }
    return {k: jnp.full(1, v) for k, v in values.items()}


def _begins(rung: Rung, out: tuple[str, ...]) -> tuple[list[Parameter], list[Params]]:
    """What is free, and three beginnings: Stribeck friction that fades late, early, and at once."""
    free = [p for p in (*rung.parameters, *BENCH) if p.name not in KNOWN and p.name not in out]
    base = _known(out) | {p.name: p.nominal for p in free} | BEGIN
    late = {"motor.resistance": 2.8, "friction.stribeck_velocity": 2.0, "friction.load": 0.12, "friction.motor": 0.25}
    early = {"friction.stribeck_velocity": 0.1, "friction.motor_stribeck": 0.15, "friction.outside_stribeck": 0.15}
    begins = [base, *(base | {k: v for k, v in other.items() if k in base} for other in (late, early))]
    return free, [{k: jnp.full(1, v) for k, v in b.items()} for b in begins]


def _known(out: tuple[str, ...]) -> dict[str, float]:
    absent = {"motor.bias": 0.0, "motor.sag": 0.0, "command.latency": 0.0, "arm.mass": 0.0}
    return KNOWN | absent | dict.fromkeys(out, 0.0)
