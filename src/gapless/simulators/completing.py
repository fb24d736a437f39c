"""Models that say what moves but not what drives or reads it, as URDF files do: the motors and sensors they leave out."""

from dataclasses import dataclass
from pathlib import Path

import mujoco
from mujoco import mjtJoint

from gapless.core import GaplessError

from .model import load_model

FORCES = {mjtJoint.mjJNT_HINGE: ("torque", "N m"), mjtJoint.mjJNT_SLIDE: ("force", "N")}


@dataclass(frozen=True)
class Completed:
    """A model that can be driven and read."""

    model: mujoco.MjModel
    xml: str = ""
    """The completed model as MJCF; empty where nothing was missing."""
    added: str = ""
    """What was added, in one sentence; empty where nothing was."""


def complete_model(path: Path) -> Completed:
    """The model of a file; one without actuators gets a motor per joint with an effort limit, and position sensors."""
    model = load_model(path)
    if model.nu:
        return Completed(model)
    spec = mujoco.MjSpec.from_file(str(path))
    for k, joint in enumerate(spec.joints):
        joint.name = joint.name or f"joint{k}"
    motors = [_motor(spec, joint) for joint in _driven(model, spec, path)]
    sensors = [] if model.nsensor else [_sensor(spec, joint) for joint in spec.joints if joint.type in FORCES]
    # The completed file lies in another folder than the meshes.
    spec.meshdir, spec.texturedir = (str((path.parent / d).resolve()) for d in (spec.meshdir, spec.texturedir))
    added = f"{path.name} names no actuator: added {', '.join(motors)}"
    added += f", and sensors {', '.join(sensors)}" * bool(sensors)
    return Completed(spec.compile(), spec.to_xml(), added + _free(model, spec))


def _driven(model: mujoco.MjModel, spec: mujoco.MjSpec, path: Path) -> list:
    found = [j for k, j in enumerate(spec.joints) if j.type in FORCES and model.jnt_actfrclimited[k]]
    if not found:
        raise GaplessError(
            f"{path} names no actuator, and no joint in it has an effort limit (joints: "
            f"{', '.join(j.name for j in spec.joints) or 'none'}). Write <limit effort=…> in a URDF or <actuator> in an MJCF."
        )
    return found


def _free(model: mujoco.MjModel, spec: mujoco.MjSpec) -> str:
    """The joints that nothing drives, in words."""
    idle = [j.name for k, j in enumerate(spec.joints) if j.type in FORCES and not model.jnt_actfrclimited[k]]
    return f"; nothing drives {', '.join(idle)}, for want of an effort limit." if idle else "."


def _motor(spec: mujoco.MjSpec, joint: mujoco.MjsJoint) -> str:
    """Add a motor; its name and limits in words."""
    quantity, unit = FORCES[joint.type]
    name, (low, high) = f"{joint.name}.{quantity}", (float(v) for v in joint.actfrcrange)
    motor = spec.add_actuator(
        name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint.name, ctrllimited=True, ctrlrange=[low, high]
    )
    motor.set_to_motor()
    # The command carries the limit now: on the joint it would also hide a motor that is stronger than it says.
    joint.actfrclimited = False
    return f"the motor {name} ({low:g} to {high:g} {unit})"


def _sensor(spec: mujoco.MjSpec, joint: mujoco.MjsJoint) -> str:
    name = f"{joint.name}.position"
    spec.add_sensor(
        name=name,
        type=mujoco.mjtSensor.mjSENS_JOINTPOS,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        objname=joint.name,
    )
    return name
