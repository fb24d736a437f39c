"""What parameters make of a model, inside a compiled program: the same numbers that `binding.py` writes into a batch."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import jax.numpy as jnp
import mujoco
import numpy as np
from mujoco import mjtObj

from ..binding import GRAVITY, TILTS, bind, index_of
from ..explicit_damping import held_in_armature
from .scalars import Scalar, known, times
from .tree import damps_implicitly


@dataclass
class Fields:
    """The numbers of all worlds; each is known now or has one value for each world."""

    mass: list[Scalar]
    com: list[list[Scalar]]
    inertia: list[list[Scalar]]
    armature: list[Scalar]
    damping: list[Scalar]
    drag: list[Scalar]
    friction: list[Scalar]
    stiffness: list[Scalar]
    springref: list[Scalar]
    gain: list[list[Scalar]]
    bias: list[list[Scalar]]
    gravity: list[Scalar]
    dry: list[int] = field(default_factory=list)
    """Joints that may have dry friction."""


Set = Callable[[Fields, Scalar], None]


class Setting:
    """Which numbers of a model the named parameters set."""

    def __init__(self, model: mujoco.MjModel, names: Iterable[str]) -> None:
        self._model = model
        setters = {name: _setter(model, name) for name in names}
        self.held = {name: bind(model, name).nominal for name, setter in setters.items() if setter is None}
        """Parameters that it cannot set, and the model's own values of them: it holds where they have these."""
        # As in `bound.py`, an armature that is a parameter itself comes last, and masses before what they scale.
        order = sorted(setters, key=lambda name: (name.endswith(".armature"), not name.endswith(".mass")))
        self._setters = {name: found for name in order if (found := setters[name]) is not None}
        dry = {int(d) for d in np.flatnonzero(model.dof_frictionloss)}
        rubs = (
            index_of(model, mjtObj.mjOBJ_JOINT, n.removesuffix(".friction")) for n in setters if n.endswith(".friction")
        )
        self._dry = sorted(dry | {int(model.jnt_dofadr[j]) for j in rubs if j >= 0})

    def fields(self, params: Mapping[str, Scalar]) -> Fields:
        """The model with these values."""
        found = _nominal(self._model)
        found.dry = self._dry
        for name, setter in self._setters.items():
            setter(found, params[name])
        return found


def _nominal(model: mujoco.MjModel) -> Fields:
    return Fields(
        mass=_numbers(model.body_mass),
        com=[_numbers(row) for row in model.body_ipos],
        inertia=[_numbers(row) for row in model.body_inertia],
        armature=_numbers(model.dof_armature),
        damping=_numbers(model.dof_damping),
        drag=_numbers(model.dof_dampingpoly[:, 0]),
        friction=_numbers(model.dof_frictionloss),
        stiffness=_numbers(model.jnt_stiffness),
        springref=_numbers(model.qpos_spring),
        gain=[_numbers(row[:3]) for row in model.actuator_gainprm],
        bias=[_numbers(row[:3]) for row in model.actuator_biasprm],
        gravity=_numbers(model.opt.gravity),
    )


def _numbers(values: np.ndarray) -> list[Scalar]:
    return [known(float(v)) for v in values]


def _setter(model: mujoco.MjModel, name: str) -> Set | None:
    thing, _, quantity = name.rpartition(".")
    if name in TILTS:
        return _tilt(model, TILTS.index(name))
    if name in GRAVITY:
        return _item("gravity", GRAVITY.index(name))
    body, joint, actuator = (
        index_of(model, kind, thing) for kind in (mjtObj.mjOBJ_BODY, mjtObj.mjOBJ_JOINT, mjtObj.mjOBJ_ACTUATOR)
    )
    if quantity in OF_BODIES and body >= 0:
        return OF_BODIES[quantity](model, body)
    if quantity in OF_JOINTS and joint >= 0:
        return OF_JOINTS[quantity](model, joint)
    if quantity in OF_ACTUATORS and actuator >= 0:
        return OF_ACTUATORS[quantity](model, actuator)
    return None


def _item(field_name: str, index: int) -> Set:
    def put(fields: Fields, value: Scalar) -> None:
        getattr(fields, field_name)[index] = value

    return put


def _mass(model: mujoco.MjModel, body: int) -> Set:
    per_mass = _numbers(model.body_inertia[body] / model.body_mass[body])

    def put(fields: Fields, value: Scalar) -> None:
        fields.mass[body], fields.inertia[body] = value, [times(value, share) for share in per_mass]

    return put


def _inertia(model: mujoco.MjModel, body: int) -> Set:
    def put(fields: Fields, value: Scalar) -> None:
        fields.inertia[body] = [times(value, moment) for moment in fields.inertia[body]]

    return put


def _com(model: mujoco.MjModel, body: int) -> Set | None:
    offset = model.body_ipos[body]
    distance = float(np.linalg.norm(offset))
    if distance == 0:
        return None
    along = _numbers(offset / distance)

    def put(fields: Fields, value: Scalar) -> None:
        fields.com[body] = [times(value, share) for share in along]

    return put


def _com_along(axis: int) -> Callable[[mujoco.MjModel, int], Set]:
    def make(model: mujoco.MjModel, body: int) -> Set:
        def put(fields: Fields, value: Scalar) -> None:
            fields.com[body][axis] = value

        return put

    return make


def _dof(field_name: str) -> Callable[[mujoco.MjModel, int], Set]:
    return lambda model, joint: _item(field_name, int(model.jnt_dofadr[joint]))


def _damping(model: mujoco.MjModel, joint: int) -> Set:
    """An armature that holds half a step of the damping follows it."""
    dof = int(model.jnt_dofadr[joint])
    held, armature, own = (float(v[dof]) for v in (held_in_armature(model), model.dof_armature, model.dof_damping))

    def put(fields: Fields, value: Scalar) -> None:
        fields.damping[dof] = value
        if held:
            fields.armature[dof] = armature - held + value * (held / own)

    return put


def _gain(model: mujoco.MjModel, actuator: int) -> Set:
    gain, spring = float(model.actuator_gainprm[actuator, 0]), float(model.actuator_biasprm[actuator, 1])
    is_servo = spring != 0 and np.isclose(spring, -gain)

    def put(fields: Fields, value: Scalar) -> None:
        fields.gain[actuator][0] = value
        if is_servo:
            fields.bias[actuator][1] = -value

    return put


def _actuator_bias(place: int, sign: float) -> Callable[[mujoco.MjModel, int], Set]:
    def make(model: mujoco.MjModel, actuator: int) -> Set:
        def put(fields: Fields, value: Scalar) -> None:
            fields.bias[actuator][place] = sign * value

        return put

    return make


def _tilt(model: mujoco.MjModel, axis: int) -> Set:
    strength = float(np.linalg.norm(model.opt.gravity))

    def put(fields: Fields, value: Scalar) -> None:
        fields.gravity[axis] = strength * jnp.sin(value)
        aside = times(fields.gravity[0], fields.gravity[0]) + times(fields.gravity[1], fields.gravity[1])
        fields.gravity[2] = -jnp.sqrt(jnp.maximum(strength**2 - aside, 0.0))

    return put


OF_BODIES: dict[str, Callable[[mujoco.MjModel, int], Set | None]] = {
    "mass": _mass,
    "inertia": _inertia,
    "com": _com,
    "com_x": _com_along(0),
    "com_y": _com_along(1),
    "com_z": _com_along(2),
}
OF_JOINTS: dict[str, Callable[[mujoco.MjModel, int], Set | None]] = {
    "damping": _damping,
    "drag": lambda model, joint: None if damps_implicitly(model) else _dof("drag")(model, joint),
    "friction": _dof("friction"),
    "armature": _dof("armature"),
    "stiffness": lambda model, joint: _item("stiffness", joint),
    "springref": lambda model, joint: _item("springref", int(model.jnt_qposadr[joint])),
}
OF_ACTUATORS: dict[str, Callable[[mujoco.MjModel, int], Set]] = {
    "gain": _gain,
    "bias": _actuator_bias(0, 1.0),
    "damping": _actuator_bias(2, -1.0),
}
