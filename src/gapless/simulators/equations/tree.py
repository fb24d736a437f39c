"""A model as a tree of bodies on hinges and slides: what its equations of motion know before anything moves."""

from dataclasses import dataclass

import mujoco
import numpy as np

from .scalars import Matrix, Vector, known

MOST_JOINTS = 3
"""Four joints in space take 20 s to compile."""
INTEGRATORS = {mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtIntegrator.mjINT_RK4}
SUPPORTED = {mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE}


@dataclass(frozen=True)
class TreeJoint:
    """A hinge or a slide, in the frame of its body before it moves."""

    index: int
    hinge: bool
    axis: Vector
    anchor: Vector
    rest: float
    """Its position in the model's own pose."""


@dataclass(frozen=True)
class TreeBody:
    """A body, in the frame of its parent."""

    index: int
    parent: int
    position: Vector
    rotation: Matrix
    joints: tuple[TreeJoint, ...]
    axes: Matrix
    """The main axes of its inertia, in its own frame."""


def damps_implicitly(model: mujoco.MjModel) -> bool:
    """Whether Euler's steps meet the damping at their end."""
    euler = model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER
    return bool(euler) and not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EULERDAMP


def tree_of(model: mujoco.MjModel) -> tuple[TreeBody, ...]:
    """All bodies but the world, parents first."""
    return tuple(_body(model, b) for b in range(1, model.nbody))


def unlike(model: mujoco.MjModel) -> str | None:
    """What the model has that is not compiled, in words; None where it has nothing such."""
    m, opt = model, model.opt
    collide = not opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT and _may_touch(m)
    found = {
        "no joints": m.nv == 0,
        "joints other than hinges and slides": any(mujoco.mjtJoint(t) not in SUPPORTED for t in m.jnt_type),
        "limits of joints": m.jnt_limited.any() and not opt.disableflags & mujoco.mjtDisableBit.mjDSBL_LIMIT,
        "limits of actuator forces on joints": m.jnt_actfrclimited.any(),
        "contacts": collide,
        "equality constraints": m.neq > 0,
        "tendons": m.ntendon > 0,
        "flexible bodies": m.nflex > 0,
        "mocap bodies": m.nmocap > 0,
        "plugins": m.nplugin > 0,
        "compensated gravity": m.body_gravcomp.any(),
        "a fluid": opt.density != 0 or opt.viscosity != 0,
        "drag that is damped implicitly, or of third order": (m.dof_dampingpoly[:, 0].any() and damps_implicitly(m))
        or m.dof_dampingpoly[:, 1:].any(),
        "springs that are not linear": m.jnt_stiffnesspoly.any() or (m.jnt_plasticadr >= 0).any(),
        "an implicit integrator": mujoco.mjtIntegrator(opt.integrator) not in INTEGRATORS,
        "flags that switch parts of the physics off": bool(opt.disableflags & ~_HARMLESS) or bool(opt.enableflags),
        f"more than {MOST_JOINTS} joints": m.nv > MOST_JOINTS,
        "actuators of another kind": not all(_plain(m, k) for k in range(m.nu)),
    }
    return next((what for what, so in found.items() if so), None)


_HARMLESS = int(
    mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    | mujoco.mjtDisableBit.mjDSBL_CONTACT
    | mujoco.mjtDisableBit.mjDSBL_LIMIT
    | mujoco.mjtDisableBit.mjDSBL_WARMSTART
    | mujoco.mjtDisableBit.mjDSBL_ISLAND
    | mujoco.mjtDisableBit.mjDSBL_SENSOR
)
_GAINS = {mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtGain.mjGAIN_AFFINE}
_BIASES = {mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE}


def _plain(model: mujoco.MjModel, k: int) -> bool:
    """Whether an actuator is a joint's, without a state of its own: motors, position and velocity servos."""
    return (
        mujoco.mjtTrn(model.actuator_trntype[k]) == mujoco.mjtTrn.mjTRN_JOINT
        and mujoco.mjtDyn(model.actuator_dyntype[k]) == mujoco.mjtDyn.mjDYN_NONE
        and mujoco.mjtGain(model.actuator_gaintype[k]) in _GAINS
        and mujoco.mjtBias(model.actuator_biastype[k]) in _BIASES
        and not model.actuator_delay[k]
        and not model.actuator_damping[k]
        and not model.actuator_dampingpoly[k].any()
        and not model.actuator_armature[k]
    )


def _may_touch(model: mujoco.MjModel) -> bool:
    """Whether two geoms of bodies that move against each other could ever collide."""
    if model.npair:
        return True
    weld = model.body_weldid[model.geom_bodyid]
    meets = (model.geom_contype[:, None] & model.geom_conaffinity[None]) != 0
    meets |= meets.T
    return bool((meets & (weld[:, None] != weld[None])).any())


def _body(model: mujoco.MjModel, b: int) -> TreeBody:
    first, count = int(model.body_jntadr[b]), int(model.body_jntnum[b])
    return TreeBody(
        b,
        int(model.body_parentid[b]),
        _vector(model.body_pos[b]),
        _matrix(model.body_quat[b]),
        tuple(_joint(model, j) for j in range(first, first + count)),
        _matrix(model.body_iquat[b]),
    )


def _joint(model: mujoco.MjModel, j: int) -> TreeJoint:
    hinge = mujoco.mjtJoint(model.jnt_type[j]) == mujoco.mjtJoint.mjJNT_HINGE
    rest = float(model.qpos0[model.jnt_qposadr[j]])
    return TreeJoint(j, hinge, _vector(model.jnt_axis[j]), _vector(model.jnt_pos[j]), rest)


def _vector(values: np.ndarray) -> Vector:
    return known(values[0]), known(values[1]), known(values[2])


def _matrix(quaternion: np.ndarray) -> Matrix:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quaternion)
    return _vector(flat[:3]), _vector(flat[3:6]), _vector(flat[6:])
