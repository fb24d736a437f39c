"""The SO-101 arm: each servo's rung from motion alone, gravity from the nominal masses, whole motions open loop."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from gapless.core import Params, key_for
from gapless.learn.actuators.choose import Choice, choose
from gapless.learn.actuators.ladder import Rung, ladder
from gapless.learn.actuators.motion import MatchMotion, fit_joints, fit_network_to_motion
from gapless.nets.fitting import FitNetwork
from gapless.simulators.joints import Joints, Pieces
from gapless.simulators.parts.actuator_network import NetworkForm, new_network
from recordings_servos import ARM_JOINTS, ENCODER_STEP_RAD, JAW_RAD, ArmLog

SUBSTEPS, REMEMBERED = 4, 4
JAW = ARM_JOINTS.index("Jaw")
TO_RAD = np.array([1.0, 1.0, 1.0, 1.0, 1.0, JAW_RAD])
"""Radians per unit of each log column; the Jaw's zero does not matter, as gravity hardly loads it."""
KNOWN = {"motor.supply": 12.0, "motor.lead": 0.0, "motor.current": 50.0, "motor.sag": 0.0}
BEGIN = {
    "motor.gain": 2.66,
    "motor.constant": 2.55,
    "motor.resistance": 10.4,
    "pd.stiffness": 7.81,
    "pd.damping": 0.624,
    "joint.inertia": 0.028,
    "command.latency": 0.005,
    "friction.coulomb": 0.06,
}
"""From the nominal model: the servo's data sheet."""
Play = Callable[[Pieces], np.ndarray]


class Arm:
    """What the nominal model says about weight: torques of gravity as sums over the links' absolute angles."""

    def __init__(self, nominal: Path, period_s: float) -> None:
        self.model, self.period_s = mujoco.MjModel.from_xml_path(str(nominal)), period_s
        self.weights = jnp.asarray(self._gravity(), jnp.float32)

    def _gravity(self) -> np.ndarray:
        """Least squares of the model's gravity torques on the directions of the three links that lean."""
        held = mujoco.MjData(self.model)
        positions = np.random.default_rng(0).uniform(-1, 1, (200, self.model.nq))
        positions[:, 4:] = 0  # roll and jaw shift the weight by millimetres
        torques = []
        for q in positions:
            held.qpos[:], held.qvel[:] = q, 0
            mujoco.mj_forward(self.model, held)
            torques.append(-held.qfrc_bias.copy())
        return np.linalg.lstsq(np.asarray(_leaning(jnp.asarray(positions))), np.array(torques), rcond=None)[0]

    def joints(self, rung: Rung) -> Joints:
        """The arm with the actuators of a rung."""

        def load(params: Params, position: jnp.ndarray) -> jnp.ndarray:
            return _leaning(jax.lax.stop_gradient(position)) @ self.weights

        def inertia(params: Params, position: jnp.ndarray) -> jnp.ndarray:
            return params["joint.inertia"] + 0 * position

        return Joints(rung.actuator, rung.friction, load, inertia, self.period_s, SUBSTEPS, REMEMBERED)

    def nominal(self, log: ArmLog) -> np.ndarray:
        """MuJoCo's nominal arm over a whole motion, in the log's units."""
        model, held, closed = self.model, mujoco.MjData(self.model), -0.1745
        substeps = round(log.period_s / 0.002)
        model.opt.timestep = log.period_s / substeps
        held.qpos[:] = log.position[0] * TO_RAD
        held.qpos[JAW] += closed
        seen = np.empty_like(log.position)
        for k, command in enumerate(log.command):
            seen[k] = held.qpos
            held.ctrl[:] = command
            mujoco.mj_step(model, held, substeps)
        seen[:, JAW] -= closed
        return seen / TO_RAD


def _leaning(position: jnp.ndarray) -> jnp.ndarray:
    upper = position[..., 1]
    lower = upper + position[..., 2]
    hand = lower + position[..., 3]
    return jnp.stack([f(a) for a in (upper, lower, hand) for f in (jnp.cos, jnp.sin)], axis=-1)


def whole(log: ArmLog) -> Pieces:
    """A whole motion, from its first measured position at rest."""
    return _pieces([(log, slice(0, len(log.position)))], lambda log, rows: np.zeros(len(ARM_JOINTS)))


def cut(logs: Sequence[ArmLog], seconds: float, stride_s: float) -> Pieces:
    """Windows of all motions, from the measured position and the slope around it."""
    spans = []
    for log in logs:
        length, stride = (round(s / log.period_s) for s in (seconds, stride_s))
        spans += [(log, slice(a, a + length)) for a in range(0, len(log.position) - length + 1, stride)]
    return _pieces(spans, _slope)


def _slope(log: ArmLog, rows: slice) -> np.ndarray:
    first, last = max(rows.start - 2, 0), rows.start + 2
    return (log.position[last] - log.position[first]) / ((last - first) * log.period_s)


def _pieces(spans: Sequence[tuple[ArmLog, slice]], velocity: Callable[[ArmLog, slice], np.ndarray]) -> Pieces:
    def rows(values: list[np.ndarray]) -> jnp.ndarray:
        return jnp.asarray(np.stack(values) * TO_RAD, jnp.float32)

    seen = rows([log.position[s] for log, s in spans])
    return Pieces(
        seen[:, 0],
        rows([velocity(log, s) for log, s in spans]),
        {"target": rows([log.command[s] for log, s in spans])},
        seen,
    )


def errors(play: Play, logs: Sequence[ArmLog]) -> np.ndarray:
    """RMSE over the whole motion, per log and joint, in the logs' units."""
    return np.array([rmse(play(whole(log))[0] / TO_RAD, log) for log in logs])


def rmse(predicted: np.ndarray, log: ArmLog) -> np.ndarray:
    return np.sqrt(np.mean((predicted - log.position) ** 2, axis=0))


def floors(logs: Sequence[ArmLog]) -> dict[str, np.ndarray]:
    """Each motion's own repeatability, run 1 against run 0, and at least an encoder step."""
    named = {log.name: log for log in logs}
    found = {}
    for name, log in named.items():
        if name.endswith(".run0") and name[:-1] + "1" in named:
            other = named[name[:-1] + "1"]
            length = min(len(log.position), len(other.position))
            apart = np.sqrt(np.mean((log.position[:length] - other.position[:length]) ** 2, axis=0))
            found[name] = np.maximum(apart, ENCODER_STEP_RAD / TO_RAD)
    return found


def learn(arm: Arm, logs: Sequence[ArmLog], quick: bool, seed: int) -> tuple[dict[str, Play], Choice]:
    """Every rung fitted to five in six motions, the one chosen on the sixths, whole and open loop, and fitted to all then."""
    held_out, train = list(logs[5::6]), [log for i, log in enumerate(logs) if i % 6 != 5]
    windows = cut(train, 6.0, 24.0 if quick else 12.0)
    recipe = MatchMotion(iterations=5 if quick else 12)
    plays, fitted = {}, {}
    for rung in _rungs():
        joints, (free, begin) = arm.joints(rung), _begin(rung)
        params, _ = fit_joints(joints, free, begin, windows, recipe)
        fitted[rung.name] = joints, params
        plays[rung.name] = _player(joints, params)
    if not quick:
        plays["mlp"] = _network(*fitted["friction m4"], train, seed)
    scale = np.median(errors(plays["pd"], held_out), axis=0)
    choice = choose({name: (errors(p, held_out) / scale).mean(axis=1) for name, p in plays.items()})
    return plays | {"chosen": _refit(logs, choice.rung, fitted, plays, recipe)}, choice


def _refit(
    logs: Sequence[ArmLog], name: str, fitted: dict[str, Any], plays: dict[str, Play], recipe: MatchMotion
) -> Play:
    """The chosen rung with the held-out motions counted in; a network stays as it was chosen."""
    if name not in fitted:
        return plays[name]
    rung = next(r for r in _rungs() if r.name == name)
    joints, params = fitted[name]
    again, _ = fit_joints(joints, _begin(rung)[0], params, cut(logs, 6.0, 12.0), recipe)
    return _player(joints, again)


def _network(joints: Joints, params: Params, train: Sequence[ArmLog], seed: int) -> Play:
    """A network per joint that corrects the rung below, trained through the simulation."""
    windows, key = cut(train, 2.0, 6.0), key_for(seed, "so101", "mlp")
    trace = joints.trace(params, windows, key)
    size = 0.1 * jnp.std(trace["torque"], axis=(0, 1))
    form = NetworkForm(lags_s=(0.0, 0.02, 0.06), spacing_s=0.02, hidden=(16, 1), adds=True)
    seen = {"target": windows.inputs["target"], **trace}
    network = new_network(form, joints.actuator, seen, size, joints.period_s, key)
    held = Joints(
        network, joints.friction, joints.load, joints.inertia, joints.period_s, joints.substeps, joints.remembered
    )
    last = np.arange(len(windows.seen)) % 8 == 7
    recipe = FitNetwork(rate=3e-3, batch=24, steps=120, looks=6, decay=1e-4)
    rows, looks = (jax.tree.map(lambda x, m=m: x[m], windows) for m in (~last, last))
    found, _ = fit_network_to_motion(held, params, rows, looks, recipe, key)
    return _player(found, params)


def _player(joints: Joints, params: Params) -> Play:
    play = jax.jit(lambda pieces: joints.play(params, pieces, jax.random.key(0)))
    return lambda pieces: np.asarray(play(pieces))


def _rungs() -> tuple[Rung, ...]:
    pd, motor, simple = ladder("m1")
    last = ladder("m4")[2]
    return pd, motor, Rung("friction m1", simple.actuator, simple.law, simple.parameters), Rung(
        "friction m4", last.actuator, last.law, last.parameters
    )  # fmt: skip


def _begin(rung: Rung) -> tuple[list[Any], Params]:
    free = [p for p in rung.parameters if p.name not in KNOWN]
    start = {p.name: p.nominal for p in rung.parameters} | KNOWN | {"command.latency": 0.005}
    start |= {k: v for k, v in BEGIN.items() if k in start}
    return free, {k: jnp.full(len(ARM_JOINTS), v) for k, v in start.items()}
