"""For any model, the list of parameters that are worth doubting, with plausible ranges, for the user to edit."""

import mujoco
import numpy as np
from mujoco import mjtObj

from gapless.core import Interface, Parameter

from .binding import TILTS, bind
from .log_cholesky import DEVIATIONS, TURNING
from .model import object_name
from .sensing import sensing_parameters

LATENCY_S = 0.06
"""Longest plausible round trip."""
DEVIATION = 0.35
"""Half the logarithm of two: a stretch that doubles or halves an inertia."""


def propose_parameters(model: mujoco.MjModel, interface: Interface) -> tuple[Parameter, ...]:
    """Masses, centres, friction, gains, contact and latency of everything that moves; then what each sensor may do."""
    inertia = _joint_inertias(model)
    found = [p for body in range(1, model.nbody) for p in _of_body(model, body)]
    found += [p for joint in range(model.njnt) for p in _of_joint(model, joint, inertia)]
    fixed = [i for i in range(model.nu) if model.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED]
    found += [_gain(model, i) for i in fixed if model.actuator_gainprm[i, 0] != 0]
    found += [_sliding(model, i) for i in range(model.ngeom) if model.geom_contype[i] and model.geom_conaffinity[i]]
    # A base that is bolted down is seldom level; one degree shows in the logs.
    if model.opt.gravity[2] < 0 and not model.opt.gravity[:2].any():
        found += [Parameter(name, "rad", 0.0, -0.06, 0.06, "inertia", free=False) for name in TILTS]
    found += [p for body in range(1, model.nbody) for p in _deviations(model, body)]
    found.append(Parameter("command.latency", "s", 0.0, 0.0, LATENCY_S, "latency"))
    found += [_noise(c.name, c.unit) for c in interface.measurements]
    found += sensing_parameters(interface)
    return tuple(found)


def _joint_inertias(model: mujoco.MjModel) -> np.ndarray:
    state = mujoco.MjData(model)
    mujoco.mj_forward(model, state)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, state, full)
    return np.diag(full)


def _moves(model: mujoco.MjModel, body: int) -> bool:
    return model.body_weldid[body] != 0 and model.body_mass[body] > 0


def _of_body(model: mujoco.MjModel, body: int) -> list[Parameter]:
    if not _moves(model, body):
        return []
    name, mass = object_name(model, mjtObj.mjOBJ_BODY, body), float(model.body_mass[body])
    found = [
        Parameter(f"{name}.mass", "kg", mass, 0.5 * mass, 2 * mass, "inertia"),
        Parameter(f"{name}.inertia", "", 1.0, 0.5, 2.0, "inertia", free=False),
    ]
    distance = float(np.linalg.norm(model.body_ipos[body]))
    if distance > 0:
        found.append(Parameter(f"{name}.com", "m", distance, 0.6 * distance, 1.5 * distance, "inertia"))
    return found


def _deviations(model: mujoco.MjModel, body: int) -> list[Parameter]:
    """The ten numbers of a body's whole inertia, for those who doubt more than its mass and centre."""
    if not _moves(model, body):
        return []
    name = object_name(model, mjtObj.mjOBJ_BODY, body)
    gyration = float(np.sqrt(model.body_inertia[body].sum() / (2 * model.body_mass[body])))
    limits = [("m", gyration / 2) if d.startswith("t") else ("", DEVIATION) for d in DEVIATIONS]
    return [
        Parameter(f"{name}.{d}", unit, 0.0, -limit, limit, "inertia", free=False)
        for d, (unit, limit) in zip(DEVIATIONS, limits, strict=True)
        if limit > 0 and not (d in TURNING and model.body_simple[body])
    ]


def _of_joint(model: mujoco.MjModel, joint: int, inertia: np.ndarray) -> list[Parameter]:
    name, dof = object_name(model, mjtObj.mjOBJ_JOINT, joint), int(model.jnt_dofadr[joint])
    rotates = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
    force = "N m" if rotates else "N"
    damping, friction = float(model.dof_damping[dof]), float(model.dof_frictionloss[dof])
    strength = _strength(model, joint) or 4.0 * float(inertia[dof])
    return [
        Parameter(
            f"{name}.damping", f"{force} s/{'rad' if rotates else 'm'}", damping, 0.0,
            max(4 * damping, float(inertia[dof])), "friction",
        ),
        Parameter(f"{name}.friction", force, friction, 0.0, max(4 * friction, 0.2 * strength), "friction"),
    ]  # fmt: skip


def _strength(model: mujoco.MjModel, joint: int) -> float:
    """The largest force of the actuators on a joint, 0 where none is known."""
    forces = [
        abs(model.actuator_gainprm[i, 0] * model.actuator_gear[i, 0]) * np.abs(model.actuator_ctrlrange[i]).max()
        for i in range(model.nu)
        if model.actuator_trnid[i, 0] == joint and model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT
    ]
    return float(sum(forces))


def _gain(model: mujoco.MjModel, actuator: int) -> Parameter:
    name = object_name(model, mjtObj.mjOBJ_ACTUATOR, actuator)
    gain = bind(model, f"{name}.gain").nominal
    low, high = sorted((0.4 * gain, 1.6 * gain))
    return Parameter(f"{name}.gain", "", gain, low, high, "actuation")


def _sliding(model: mujoco.MjModel, geom: int) -> Parameter:
    name, value = object_name(model, mjtObj.mjOBJ_GEOM, geom), float(model.geom_friction[geom, 0])
    return Parameter(f"{name}.sliding", "", value, 0.2 * value, 2 * value, "contact")


def _noise(channel: str, unit: str) -> Parameter:
    # Sensing noise is read off the residuals of a fit, not searched for.
    return Parameter(f"{channel}.noise", unit, 0.0, 0.0, 1.0, "sensing", free=False)
