"""Models as users have them: MJCF or URDF files in, a compiled MuJoCo model and a proposed interface out."""

from pathlib import Path

import mujoco
from mujoco import mjtObj

from gapless.core import Channel, GaplessError, Interface
from gapless.core.isolated import run_alone

from . import model_probe
from .model_text import files_outside

PACKAGE = Path(__file__).parents[1]
PERIOD_S = 0.02
JOINT_UNITS = {mujoco.mjtJoint.mjJNT_HINGE: "rad", mujoco.mjtJoint.mjJNT_SLIDE: "m"}
JOINT_SENSORS = {mujoco.mjtSensor.mjSENS_JOINTPOS: "", mujoco.mjtSensor.mjSENS_JOINTVEL: "/s"}


def load_model(path: Path, within: Path | None = None) -> mujoco.MjModel:
    """The compiled model of an MJCF or URDF file, after a trial in a process of its own.

    Files that it names must lie below `within`: if not given, in the model's folder, or below or beside that.
    """
    if not path.is_file():
        raise GaplessError(f"there is no model file {path}. Give the path of an MJCF or URDF file.")
    outside = files_outside(path, within or surroundings(path))
    if outside:
        raise GaplessError(
            f"the model {path} names {outside[0]}, which is no file inside {within or surroundings(path)}. "
            "Copy it beside the model and name it there."
        )
    if not path.resolve().is_relative_to(PACKAGE):  # models that come along need no trial
        _try(path)
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, RuntimeError) as error:
        raise GaplessError(f"MuJoCo cannot read the model {path}: {' '.join(str(error).split())}") from None


def surroundings(path: Path) -> Path:
    """The folder below which a model's files may lie: the one above its own, for the `../meshes` of URDF packages."""
    own = path.resolve().parent
    everything = own.parent in (Path(own.anchor), Path.home())
    return own if everything else own.parent


def _try(path: Path) -> None:
    # By itself also because MuJoCo writes MUJOCO_LOG.TXT to the folder in which it runs.
    fault = run_alone(model_probe.__file__, str(path.absolute()), seconds=2 * model_probe.SECONDS)
    if fault is None:
        raise GaplessError(
            f"the model {path} needs more than {model_probe.SECONDS} s or {model_probe.MEMORY_BYTES // 2**30} GiB, or brings "
            "MuJoCo down. Make it smaller."
        )
    if fault.strip():
        raise GaplessError(f"MuJoCo cannot read the model {path}: {fault.strip()}")


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
