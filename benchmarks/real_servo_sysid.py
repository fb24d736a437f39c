"""The yardstick on real servos: what `mujoco.sysid` makes of the nominal arm and of the nominal bench, from their own numbers.

Every servo's strength, damping, dry friction and rotor are free, and the commands' latency; pieces of a second, begun where the
logs have them. What is found is rolled out in MuJoCo, over whole logs.
"""

from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float

from gapless.core import Log, Parameter
from gapless.simulators import MujocoSimulator
from glue import Residual, modified
from real_sets import make_spec
from recordings import Columns, Machine
from recordings_servos import ARM_JOINTS, JAW_RAD, ArmLog, BenchLog

PIECE_S, MOST = 1.0, 48
"""Length of the pieces, and how many at most."""
LATENCY = "command.latency"
CLOSED_RAD = -0.1745
"""The gripper's own angle where the logs have it at 0."""
NOMINAL_KP = 400.0
"""The register's value that the bench's file is for."""
Values = dict[str, float]


def _unread(machine: Machine, columns: Columns) -> Log | None:
    """These machines' recordings are read by `recordings_servos.py`."""
    return None


ARM = Machine("so101_arm", 0.02, ARM_JOINTS, ARM_JOINTS, _unread)
BENCH = Machine("servo_xl330", 0.005, ("servo", "back_emf"), ("q",), _unread)


def fitted_arm(file: Path, logs: Sequence[ArmLog]) -> Callable[[ArmLog], Float[np.ndarray, "time joint"]]:
    """A player of whole motions, in the logs' units, by the arm that was found."""
    spec = _arm_spec(file)
    found = _fit([(spec, [_arm_as_log(log) for log in logs])], ARM, _servo(spec))
    model = modified(_arm_spec(file), found).compile()

    def play(log: ArmLog) -> Float[np.ndarray, "time joint"]:
        clock = np.arange(len(log.position)) * log.period_s
        return _from_rad(_played(model, clock, _in_rad(log.command), _in_rad(log.position[0]), found[LATENCY]))

    return play


def fitted_bench(file: Path, logs: Sequence[BenchLog]) -> Callable[[BenchLog], Float[np.ndarray, " time"]]:
    """A player of whole logs by the bench that was found; no torque acts where the log has it switched off."""
    kinds = sorted({log.kp for log in logs})
    groups = [(_bench_spec(file, kp), [_bench_as_log(log) for log in logs if log.kp == kp]) for kp in kinds]
    found = _fit(groups, BENCH, _servo(groups[0][0]))

    def play(log: BenchLog) -> Float[np.ndarray, " time"]:
        model = modified(_bench_spec(file, log.kp), found).compile()
        clock = np.arange(len(log.position)) * BENCH.period_s
        sent = np.stack([log.goal, log.enabled], axis=1)
        return _played(model, clock, sent, log.position[:1], found[LATENCY], log.enabled > 0.5)[:, 0]

    return play


def _servo(spec: mujoco.MjSpec) -> list[Parameter]:
    """What is free of servos, from what the file says of them."""
    model, own = spec.compile(), list[Parameter]()
    for j in range(model.njnt):
        name, dof = model.joint(j).name, model.jnt_dofadr[j]
        damping, dry, rotor = (float(of[dof]) for of in (model.dof_damping, model.dof_frictionloss, model.dof_armature))
        own += [
            Parameter(f"{name}.damping", "N m s/rad", damping, 0.0, 5 * damping, "friction"),
            Parameter(f"{name}.friction", "N m", dry, 0.0, 20 * dry, "friction"),
            Parameter(f"{name}.armature", "kg m²", rotor, 0.1 * rotor, 10 * rotor, "inertia"),
        ]
    motors = [model.actuator(k).name for k in range(model.nu)]
    strong = [Parameter(f"{name}.strength", "", 1.0, 0.2, 5.0, "actuation") for name in motors]
    return [*own, *strong, Parameter(LATENCY, "s", 0.005, 0.0, 0.06, "latency")]


def _fit(groups: list[tuple[mujoco.MjSpec, list[Log]]], machine: Machine, free: list[Parameter]) -> Values:
    """The parameters that the groups' models share."""
    with redirect_stdout(StringIO()):  # it tells every iteration
        each = [
            Residual(
                MujocoSimulator(spec.compile(), machine.interface, ()), spec, logs, free, PIECE_S, MOST // len(groups)
            )
            for spec, logs in groups
        ]
        one = each[0]
        calls = [(residual.call, residual.params) for residual in each]
        one.call = lambda x, params, **options: _together([call(x, own, **options) for call, own in calls])
        found = one.by_sysid()
    return {p.name: float(v) for p, v in zip(free, found, strict=True)}


def _together(answers: list[tuple[list[Any], ...]]) -> tuple[list[Any], ...]:
    """The residuals of all groups, one behind the other."""
    return tuple([piece for part in parts for piece in part] for parts in zip(*answers, strict=True))


def _arm_spec(file: Path) -> mujoco.MjSpec:
    """The nominal arm whose gripper is commanded in rad as its other joints are."""
    spec = make_spec(ARM, file)
    jaw = spec.actuator("Jaw")
    jaw.gainprm[0], jaw.biasprm[0] = -jaw.biasprm[1], 0.0
    return spec


def _bench_spec(file: Path, kp: float) -> mujoco.MjSpec:
    spec = make_spec(BENCH, file)
    servo = spec.actuator("servo")
    servo.gainprm[0] *= kp / NOMINAL_KP
    servo.biasprm[1] *= kp / NOMINAL_KP
    return spec


def _arm_as_log(log: ArmLog) -> Log:
    clock = np.arange(len(log.position)) * log.period_s
    return ARM.log(clock, _in_rad(log.command), clock, _in_rad(log.position))


def _bench_as_log(log: BenchLog) -> Log:
    """As long as the servo is switched on, which `mujoco.sysid` has no word for."""
    rows = int(np.argmin(log.enabled > 0.5)) or len(log.position)
    clock = np.arange(rows) * BENCH.period_s
    return BENCH.log(clock, np.stack([log.goal, log.enabled], axis=1)[:rows], clock, log.position[:rows, None])


def _in_rad(values: np.ndarray) -> np.ndarray:
    """The gripper's fraction as its angle."""
    jaw = CLOSED_RAD + JAW_RAD * values[..., -1:]
    return np.concatenate([values[..., :-1], jaw], axis=-1)


def _from_rad(values: np.ndarray) -> np.ndarray:
    jaw = (values[..., -1:] - CLOSED_RAD) / JAW_RAD
    return np.concatenate([values[..., :-1], jaw], axis=-1)


def _played(
    model: mujoco.MjModel, clock: np.ndarray, sent: np.ndarray, start: np.ndarray, latency_s: float,
    enabled: np.ndarray | None = None,
) -> Float[np.ndarray, "time joint"]:  # fmt: skip
    """Positions at the times at which commands are sent, from rest at `start`; commands are held and come late."""
    data, seen = mujoco.MjData(model), []
    data.qpos[:] = start
    for k, until in enumerate(clock):
        if enabled is not None:
            model.opt.disableactuator = 0 if enabled[k] else 1 << 1
        while data.time < until - 0.5 * model.opt.timestep:
            late = data.time - latency_s
            data.ctrl[:] = sent[max(int(np.searchsorted(clock, late + 1e-9)) - 1, 0)]
            mujoco.mj_step(model, data)
        seen.append(data.qpos.copy())
    return np.array(seen)
