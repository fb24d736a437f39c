"""Which joints a robot drives, and by which channels: what each is told, where it is seen, what is felt of its torque."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

import mujoco
from mujoco import mjtObj, mjtSensor

from gapless.core.names import thing_and_quantity

from .binding import index_of
from .model import JOINT_UNITS, object_name
from .mujoco_cpu import MujocoSimulator
from .servos import driven_joint

FELT = {mjtSensor.mjSENS_ACTUATORFRC: mjtObj.mjOBJ_ACTUATOR, mjtSensor.mjSENS_JOINTACTFRC: mjtObj.mjOBJ_JOINT}
"""Sensors of torque, and what they are attached to."""
SLIDING = {"rad": "m", "rad/s": "m/s", "N m": "N", "N m/rad": "N/m", "N m s/rad": "N s/m", "N m/unit": "N/unit"}
SLIDING |= {"kg m2": "kg", "1/rad": "1/m", "N m/A": "N/A"}
"""Units of turning joints as sliding ones have them."""


@dataclass(frozen=True)
class Driven:
    """One driven joint."""

    joint: str
    unit: str
    """Of its position."""
    number: int
    """Of the joint in the model."""
    command: str
    """The channel that it is told by."""
    told: Literal["position", "effort"]
    """Whether the command says where to be or how strongly to push."""
    scale: float
    """Target in the joint's unit = scale · command; 1 where the command is an effort."""
    position: str
    velocity: str | None
    torque: str | None
    felt: float
    """Torque at the joint = felt · torque channel."""
    nominal: dict[str, float]
    """What the model says of the actuator, and of the joint's friction."""

    def spelled(self, unit: str) -> str:
        """A unit of turning joints as it is for this one: a sliding joint has N for N m, and kg for kg m2."""
        return unit if self.unit == "rad" else SLIDING.get(unit, unit)


def driven_joints(simulator: MujocoSimulator) -> tuple[list[Driven], dict[str, str]]:
    """Joints with a command and a position of their own, and for the others that are commanded why they are not among them."""
    model, found, without = simulator.model, [], {}
    actuators = [index_of(model, mjtObj.mjOBJ_ACTUATOR, c.name) for c in simulator.interface.commands]
    shared = Counter(driven_joint(model, a) for a in actuators)
    seen = {of: name for name, of in simulator.sensed.items()}
    for channel, actuator in zip(simulator.interface.command_names, actuators, strict=True):
        number = driven_joint(model, actuator)
        unit = JOINT_UNITS.get(mujoco.mjtJoint(model.jnt_type[number])) if number >= 0 else None
        if unit is None:
            without[channel] = "acts on no hinge or slide joint"
            continue
        joint = object_name(model, mjtObj.mjOBJ_JOINT, number)
        position, velocity = (seen.get((joint, quantity)) for quantity in ("position", "velocity"))
        if position is None:
            without[joint] = "has no position channel"
        elif shared[number] > 1:
            without[joint] = f"is driven by {shared[number]} commands at once"
        else:
            scale, torque = _scale(model, actuator), _torque(simulator, actuator, number)
            nominal = _nominal(model, actuator, number)
            told = "effort" if scale is None else "position"
            found.append(Driven(joint, unit, number, channel, told, scale or 1.0, position, velocity, *torque, nominal))
    return found, without


def _scale(model: mujoco.MjModel, actuator: int) -> float | None:
    """Joint position per command of an actuator with a spring to its target; None for one that only pushes."""
    gain, spring = float(model.actuator_gainprm[actuator, 0]), float(model.actuator_biasprm[actuator, 1])
    affine = mujoco.mjtBias(model.actuator_biastype[actuator]) == mujoco.mjtBias.mjBIAS_AFFINE
    return -gain / spring / float(model.actuator_gear[actuator, 0]) if affine and spring else None


def _nominal(model: mujoco.MjModel, actuator: int, joint: int) -> dict[str, float]:
    """Parameters of the lowest rung, and of Coulomb and viscous friction, as the model file has them."""
    gear, dof = float(model.actuator_gear[actuator, 0]), int(model.jnt_dofadr[joint])
    gain, bias = float(model.actuator_gainprm[actuator, 0]), model.actuator_biasprm[actuator, :3]
    rest = {
        "friction.coulomb": float(model.dof_frictionloss[dof]),
        "friction.viscous": float(model.dof_damping[dof]),
    }
    if mujoco.mjtBias(model.actuator_biastype[actuator]) != mujoco.mjtBias.mjBIAS_AFFINE:
        return {"amplifier.gain": gain * gear, **rest}
    if not bias[1]:
        drag = -float(bias[2]) * gear**2
        return {"amplifier.gain": gain * gear, "amplifier.bias": float(bias[0]) * gear, "amplifier.drag": drag, **rest}
    stiffness, damping = -float(bias[1]) * gear**2, -float(bias[2]) * gear**2
    shift = float(bias[0]) * gear / stiffness
    return {"pd.stiffness": stiffness, "pd.damping": damping, "pd.bias": shift, **rest}


def _torque(simulator: MujocoSimulator, actuator: int, joint: int) -> tuple[str | None, float]:
    """The channel that reads the joint's torque, by its sensor or else by its name, and its factor."""
    model, named = simulator.model, {}
    own = {mjtObj.mjOBJ_ACTUATOR: actuator, mjtObj.mjOBJ_JOINT: joint}
    for i in range(model.nsensor):
        name, kind = object_name(model, mjtObj.mjOBJ_SENSOR, i), FELT.get(mjtSensor(model.sensor_type[i]))
        if name not in simulator.interface.measurement_names or model.sensor_dim[i] != 1:
            continue
        if kind is not None and model.sensor_objid[i] == own[kind]:
            gear = float(model.actuator_gear[actuator, 0])
            return name, gear if kind == mjtObj.mjOBJ_ACTUATOR else 1.0
        named[thing_and_quantity(name)] = name
    for kind, index in own.items():
        thing = thing_and_quantity(f"{object_name(model, kind, index)}.torque")[0]
        for quantity in ("effort", "force"):
            if (thing, quantity) in named:
                return named[thing, quantity], 1.0
    return None, 1.0
