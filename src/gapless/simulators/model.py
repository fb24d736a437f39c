"""Models as users have them: MJCF or URDF files in, a compiled MuJoCo model and a proposed interface out."""

from pathlib import Path

import mujoco
from mujoco import mjtObj

from gapless.core import Channel, GaplessError, Interface

PERIOD_S = 0.02
JOINT_UNITS = {mujoco.mjtJoint.mjJNT_HINGE: "rad", mujoco.mjtJoint.mjJNT_SLIDE: "m"}
JOINT_SENSORS = {mujoco.mjtSensor.mjSENS_JOINTPOS: "", mujoco.mjtSensor.mjSENS_JOINTVEL: "/s"}


def load_model(path: Path) -> mujoco.MjModel:
    """The compiled model of an MJCF or URDF file."""
    if not path.is_file():
        raise GaplessError(f"there is no model file {path}. Give the path of an MJCF or URDF file.")
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise GaplessError(f"MuJoCo cannot read the model {path}: {' '.join(str(error).split())}") from None


def object_name(model: mujoco.MjModel, kind: mjtObj, index: int) -> str:
    """The name in the model file, or kind and number where it has none."""
    return mujoco.mj_id2name(model, kind, index) or f"{kind.name.removeprefix('mjOBJ_').lower()}{index}"


def propose_interface(model: mujoco.MjModel, robot: str, period_s: float = PERIOD_S) -> Interface:
    """Actuators as commands and sensors as measurements, joint positions where there are no sensors."""
    substeps = max(1, round(period_s / model.opt.timestep))
    if not model.nu:
        raise GaplessError(
            f"the model of {robot!r} has no actuator, so nothing can be commanded. Add <actuator> to it."
        )
    return Interface(
        robot,
        substeps * float(model.opt.timestep),
        tuple(_command(model, i) for i in range(model.nu)),
        _measurements(model),
        tuple(object_name(model, mjtObj.mjOBJ_JOINT, i) for i in range(model.njnt)),
    )


def _command(model: mujoco.MjModel, index: int) -> Channel:
    name = object_name(model, mjtObj.mjOBJ_ACTUATOR, index)
    if not model.actuator_ctrllimited[index]:
        return Channel(name)
    low, high = (float(v) for v in model.actuator_ctrlrange[index])
    return Channel(name, low=low, high=high)


def _measurements(model: mujoco.MjModel) -> tuple[Channel, ...]:
    if model.nsensor:
        return tuple(_sensor(model, i) for i in range(model.nsensor))
    hinges = [i for i in range(model.njnt) if mujoco.mjtJoint(model.jnt_type[i]) in JOINT_UNITS]
    if not hinges:
        raise GaplessError("the model has neither sensors nor hinge or slide joints. Add <sensor> to it.")
    return tuple(
        Channel(
            f"{object_name(model, mjtObj.mjOBJ_JOINT, i)}.position",
            unit=JOINT_UNITS[mujoco.mjtJoint(model.jnt_type[i])],
        )
        for i in hinges
    )


def _sensor(model: mujoco.MjModel, index: int) -> Channel:
    name = object_name(model, mjtObj.mjOBJ_SENSOR, index)
    suffix = JOINT_SENSORS.get(mujoco.mjtSensor(model.sensor_type[index]))
    unit = ""
    if suffix is not None:
        unit = JOINT_UNITS[mujoco.mjtJoint(model.jnt_type[model.sensor_objid[index]])] + suffix
    return Channel(name, int(model.sensor_dim[index]), unit)
