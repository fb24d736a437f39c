"""How a parameter named by meaning reaches the fields of a MuJoCo model, one value per world."""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from jaxtyping import Float, Int
from mujoco import mjtObj
from mujoco.batch import Batch

from gapless.core import GaplessError

from .explicit_damping import held_in_armature
from .log_cholesky import DEVIATIONS, TURNING, deformed, read_inertia, write_inertia
from .model import object_name

Write = Callable[[Batch, Int[np.ndarray, " some"], Float[np.ndarray, " some"]], None]
COUNTS = {
    mjtObj.mjOBJ_BODY: "nbody",
    mjtObj.mjOBJ_JOINT: "njnt",
    mjtObj.mjOBJ_ACTUATOR: "nu",
    mjtObj.mjOBJ_GEOM: "ngeom",
}
OUTSIDE = ("command.latency", "measurement.latency")
"""Parameters that act around the physics, not in it."""


@dataclass(frozen=True)
class Binding:
    """Where one parameter of the physics is written."""

    nominal: float
    """The model file's own value."""
    write: Write
    """Puts values into the given worlds of a batch."""
    constants: bool = False
    """Whether MuJoCo must derive its constants anew afterwards."""


def bind(model: mujoco.MjModel, name: str) -> Binding:
    """The binding of `<object>.<quantity>`, e.g. "pole.mass", "slider.friction", "motor.gain", or "gravity.tilt_x"."""
    thing, _, quantity = name.rpartition(".")
    if name in TILTS:
        return _tilt(model, TILTS.index(name))
    if name in GRAVITY:
        return _gravity(model, GRAVITY.index(name))
    if quantity not in QUANTITIES:
        raise GaplessError(f"parameter {name!r} names no known quantity; known are {', '.join(sorted(QUANTITIES))}.")
    for kind, make in QUANTITIES[quantity]:
        index = index_of(model, kind, thing)
        if index >= 0:
            return make(model, index)
    kinds = " or ".join(k.name.removeprefix("mjOBJ_").lower() for k, _ in QUANTITIES[quantity])
    raise GaplessError(
        f"parameter {name!r}: the model has no {kinds} called {thing!r}. Correct the name in params.toml."
    )


def index_of(model: mujoco.MjModel, kind: mjtObj, name: str) -> int:
    """The number of a named object, or of one that is called by kind and number as it has no name; −1 for none."""
    found = mujoco.mj_name2id(model, kind, name)
    prefix = kind.name.removeprefix("mjOBJ_").lower()
    number = name.removeprefix(prefix)
    if found < 0 and name.startswith(prefix) and number.isdigit():
        known = int(number) < getattr(model, COUNTS[kind])
        return int(number) if known and not mujoco.mj_id2name(model, kind, int(number)) else -1
    return found


def _mass(model: mujoco.MjModel, body: int) -> Binding:
    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        shape = batch.expand("body_inertia")[worlds, body] / batch.expand("body_mass")[worlds, body, None]
        batch.expand("body_mass")[worlds, body] = values
        batch.expand("body_inertia")[worlds, body] = shape * values[:, None]

    return Binding(float(model.body_mass[body]), write, constants=True)


def _inertia(model: mujoco.MjModel, body: int) -> Binding:
    per_mass = model.body_inertia[body] / model.body_mass[body]

    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        mass = batch.expand("body_mass")[worlds, body, None]
        batch.expand("body_inertia")[worlds, body] = per_mass * mass * values[:, None]

    return Binding(1.0, write, constants=True)


def _com(model: mujoco.MjModel, body: int) -> Binding:
    offset = model.body_ipos[body].copy()
    distance = float(np.linalg.norm(offset))
    if distance == 0:
        raise GaplessError("a body whose centre of mass lies in its origin has no direction to move it along.")

    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        batch.expand("body_ipos")[worlds, body] = offset / distance * values[:, None]

    return Binding(distance, write, constants=True)


def _dof(field: str, constants: bool = False) -> Callable[[mujoco.MjModel, int], Binding]:
    def make(model: mujoco.MjModel, joint: int) -> Binding:
        first = int(model.jnt_dofadr[joint])
        count = {mujoco.mjtJoint.mjJNT_FREE: 6, mujoco.mjtJoint.mjJNT_BALL: 3}.get(
            mujoco.mjtJoint(model.jnt_type[joint]), 1
        )

        def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
            batch.expand(field)[worlds, first : first + count] = values[:, None]

        return Binding(float(getattr(model, field)[first]), write, constants)

    return make


def _damping(model: mujoco.MjModel, joint: int) -> Binding:
    """A joint's damping; an armature that holds half a step of it follows."""
    own, dof = _dof("dof_damping")(model, joint), int(model.jnt_dofadr[joint])
    held, armature = float(held_in_armature(model)[dof]), float(model.dof_armature[dof])
    if held == 0.0:
        return own

    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        own.write(batch, worlds, values)
        batch.expand("dof_armature")[worlds, dof] = armature + held * (values / own.nominal - 1)

    return Binding(own.nominal, write, constants=True)


def _stiffness(model: mujoco.MjModel, joint: int) -> Binding:
    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        batch.expand("jnt_stiffness")[worlds, joint] = values

    return Binding(float(model.jnt_stiffness[joint]), write)


def _springref(model: mujoco.MjModel, joint: int) -> Binding:
    first = int(model.jnt_qposadr[joint])

    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        batch.expand("qpos_spring")[worlds, first] = values

    return Binding(float(model.qpos_spring[first]), write)


def _drag(model: mujoco.MjModel, joint: int) -> Binding:
    first = int(model.jnt_dofadr[joint])

    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        batch.expand("dof_dampingpoly")[worlds, first, 0] = values

    return Binding(float(model.dof_dampingpoly[first, 0]), write)


def _com_along(axis: int) -> Callable[[mujoco.MjModel, int], Binding]:
    def make(model: mujoco.MjModel, body: int) -> Binding:
        _require_movable(model, body)

        def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
            batch.expand("body_ipos")[worlds, body, axis] = values

        return Binding(float(model.body_ipos[body, axis]), write, constants=True)

    return make


def _deviation(name: str) -> Callable[[mujoco.MjModel, int], Binding]:
    """One of a body's ten, of a body that has no other; `bodies.py` writes several together."""

    def make(model: mujoco.MjModel, body: int) -> Binding:
        if name in TURNING:
            _require_movable(model, body)

        def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
            by = values[:, None] * (np.array(DEVIATIONS) == name)
            write_inertia(batch, worlds, body, deformed(read_inertia(batch, worlds, body), by))

        return Binding(0.0, write, constants=True)

    return make


def _require_movable(model: mujoco.MjModel, body: int) -> None:
    if model.body_simple[body]:
        name = object_name(model, mjtObj.mjOBJ_BODY, body)
        raise GaplessError(
            f"MuJoCo compiles body {name!r} for a centre of mass and axes that never move. "
            'Write <body simple="false"> for it in the model file.'
        )


def _bias(model: mujoco.MjModel, actuator: int) -> Binding:
    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        batch.expand("actuator_biasprm")[worlds, actuator, 0] = values

    if mujoco.mjtBias(model.actuator_biastype[actuator]) == mujoco.mjtBias.mjBIAS_NONE:
        raise GaplessError('an actuator without a bias cannot be given one. Set biastype="affine" in the model.')
    return Binding(float(model.actuator_biasprm[actuator, 0]), write)


def _gain(model: mujoco.MjModel, actuator: int) -> Binding:
    gain, spring = float(model.actuator_gainprm[actuator, 0]), float(model.actuator_biasprm[actuator, 1])
    is_servo = spring != 0 and np.isclose(spring, -gain)

    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        batch.expand("actuator_gainprm")[worlds, actuator, 0] = values
        if is_servo:  # a position servo pulls back with the same stiffness
            batch.expand("actuator_biasprm")[worlds, actuator, 1] = -values

    return Binding(gain, write)


def _servo_damping(model: mujoco.MjModel, actuator: int) -> Binding:
    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        batch.expand("actuator_biasprm")[worlds, actuator, 2] = -values

    return Binding(-float(model.actuator_biasprm[actuator, 2]), write)


def _sliding(model: mujoco.MjModel, geom: int) -> Binding:
    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        batch.expand("geom_friction")[worlds, geom, 0] = values

    return Binding(float(model.geom_friction[geom, 0]), write)


def _softness(model: mujoco.MjModel, geom: int) -> Binding:
    own = float(model.geom_solref[geom, 0])
    if own <= 0:
        name = object_name(model, mjtObj.mjOBJ_GEOM, geom)
        raise GaplessError(
            f"geom {name!r} has a contact of set stiffness, and softness is a time. Write solref as time and damping ratio."
        )

    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        batch.expand("geom_solref")[worlds, geom, 0] = values

    return Binding(own, write)


def _tilt(model: mujoco.MjModel, axis: int) -> Binding:
    own = model.opt.gravity.copy()
    strength = float(np.linalg.norm(own))
    if own[:2].any() or own[2] >= 0:
        raise GaplessError("only gravity that points straight down can be tilted. Drop gravity.tilt from params.toml.")

    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        gravity = batch.expand("opt.gravity")
        gravity[worlds, axis] = strength * np.sin(values)
        aside = (gravity[worlds, :2] ** 2).sum(axis=1)
        gravity[worlds, 2] = -np.sqrt(np.maximum(strength**2 - aside, 0.0))

    return Binding(0.0, write)


def _gravity(model: mujoco.MjModel, axis: int) -> Binding:
    def write(batch: Batch, worlds: np.ndarray, values: np.ndarray) -> None:
        batch.expand("opt.gravity")[worlds, axis] = values

    return Binding(float(model.opt.gravity[axis]), write)


TILTS = ("gravity.tilt_x", "gravity.tilt_y")
"""How far gravity leans towards an axis, in rad: a table that is not level."""
GRAVITY = ("gravity.x", "gravity.y", "gravity.z")
"""Gravity's own components, in m/s², for those who doubt its direction altogether."""
Make = Callable[[mujoco.MjModel, int], Binding]
QUANTITIES: dict[str, list[tuple[mjtObj, Make]]] = {
    "mass": [(mjtObj.mjOBJ_BODY, _mass)],
    "inertia": [(mjtObj.mjOBJ_BODY, _inertia)],
    "com": [(mjtObj.mjOBJ_BODY, _com)],
    "damping": [(mjtObj.mjOBJ_JOINT, _damping), (mjtObj.mjOBJ_ACTUATOR, _servo_damping)],
    "friction": [(mjtObj.mjOBJ_JOINT, _dof("dof_frictionloss"))],
    "armature": [(mjtObj.mjOBJ_JOINT, _dof("dof_armature", constants=True))],
    "stiffness": [(mjtObj.mjOBJ_JOINT, _stiffness)],
    "springref": [(mjtObj.mjOBJ_JOINT, _springref)],
    "drag": [(mjtObj.mjOBJ_JOINT, _drag)],
    "com_x": [(mjtObj.mjOBJ_BODY, _com_along(0))],
    "com_y": [(mjtObj.mjOBJ_BODY, _com_along(1))],
    "com_z": [(mjtObj.mjOBJ_BODY, _com_along(2))],
    **{name: [(mjtObj.mjOBJ_BODY, _deviation(name))] for name in DEVIATIONS},
    "gain": [(mjtObj.mjOBJ_ACTUATOR, _gain)],
    "bias": [(mjtObj.mjOBJ_ACTUATOR, _bias)],
    "sliding": [(mjtObj.mjOBJ_GEOM, _sliding)],
    "softness": [(mjtObj.mjOBJ_GEOM, _softness)],
}
"""Quantity → the kinds of object that have it, in the order in which a name is looked up."""
