"""Latencies and sensor noise as MJCF has them: `delay`, `nsample` and `interp` of actuators and sensors, `noise` of sensors."""

import math
from typing import Any

import mujoco
from mujoco import mjtObj

from gapless.core import Interface
from gapless.simulators.latency import integrator_lead_s
from gapless.simulators.model import object_name
from gapless.simulators.mujoco_cpu import MujocoSimulator

LINEAR = 1
SENSED = {"position": mujoco.mjtSensor.mjSENS_JOINTPOS, "velocity": mujoco.mjtSensor.mjSENS_JOINTVEL}


def delay_commands(spec: mujoco.MjSpec, simulator: MujocoSimulator, latency_s: float | None) -> list[str]:
    """Delay every commanded actuator by the latency and the integrator's lead; what of it MuJoCo cannot carry."""
    if latency_s is None:
        return []
    model = simulator.model
    lead_s, step_s = integrator_lead_s(model), float(model.opt.timestep)
    wanted = latency_s + lead_s
    delay_s, notes = _possible(wanted, step_s, "command.latency", f"with the integrator's lead of {lead_s:g} s")
    commanded = [
        a for a in spec.actuators if _named(model, mjtObj.mjOBJ_ACTUATOR, a) in simulator.interface.command_names
    ]
    for actuator in commanded if delay_s else []:
        if actuator.delay > 0:
            notes.append(
                f"command.latency: {_named(model, mjtObj.mjOBJ_ACTUATOR, actuator)} had a delay of {actuator.delay:g} s of "
                "its own; the two were added, which smooths the command a little less than one after the other."
            )
        _hold(actuator, actuator.delay + delay_s, step_s)
    return notes


def delay_measurements(spec: mujoco.MjSpec, simulator: MujocoSimulator, values: dict[str, float]) -> list[str]:
    """Delay every measured sensor and state its noise; what of it MuJoCo cannot carry."""
    model, step_s, notes = simulator.model, float(simulator.model.opt.timestep), []
    names = simulator.interface.measurement_names
    late = {n: values.get("measurement.latency", 0.0) + values.get(f"{n}.latency", 0.0) for n in names}
    noise = {n: values.get(f"{n}.noise", 0.0) for n in names}
    if not any(late.values()) and not any(noise.values()):
        return notes
    for channel, sensor in _sensors(spec, model, simulator.interface).items():
        if sensor is None:
            notes.append(f"{channel}: it is read by no sensor of MuJoCo, so that its delay and noise are not written.")
            continue
        delay_s, unlike = _possible(late[channel], step_s, f"latency of {channel}", "")
        notes += unlike
        sensor.noise = noise[channel] or sensor.noise
        if delay_s:
            _hold(sensor, sensor.delay + delay_s, step_s)
    if any(late.values()):
        notes.append("late sensors: until the first reading has arrived, they read zero in MuJoCo.")
    if any(noise.values()):
        levels = ", ".join(f"{name} {level:.3g}" for name, level in noise.items() if level)
        notes.append(
            f"sensor noise ({levels}) is written as the attribute noise, which MuJoCo keeps and does not apply."
        )
    return notes


def _possible(wanted_s: float, step_s: float, name: str, including: str) -> tuple[float, list[str]]:
    """The nearest delay that MuJoCo makes exactly: none, or at least one step."""
    if wanted_s >= step_s * (1 - 1e-9) or wanted_s <= 0:
        return max(wanted_s, 0.0), []
    nearest = step_s if wanted_s > step_s / 2 else 0.0
    said = f"{name}: {wanted_s:.3g} s {including}".rstrip()
    return nearest, [f"{said} is under one time step, which MuJoCo cannot delay by; {nearest:g} s is written."]


def _hold(thing: Any, delay_s: float, step_s: float) -> None:
    thing.delay, thing.interp = delay_s, LINEAR
    thing.nsample = max(int(thing.nsample), math.ceil(delay_s / step_s - 1e-9) + 1)


def _sensors(spec: mujoco.MjSpec, model: mujoco.MjModel, interface: Interface) -> dict[str, Any]:
    """The sensor of each measured channel; one is added where a channel reads a joint directly."""
    known = {_named(model, mjtObj.mjOBJ_SENSOR, s): s for s in spec.sensors}
    return {c.name: known.get(c.name) or _added(spec, model, c.name) for c in interface.measurements}


def _added(spec: mujoco.MjSpec, model: mujoco.MjModel, channel: str) -> Any:
    thing, _, quantity = channel.rpartition(".")
    joint = next((j for j in spec.joints if _named(model, mjtObj.mjOBJ_JOINT, j) == thing), None)
    if joint is None or quantity not in SENSED or not joint.name:
        return None
    objtype = mujoco.mjtObj.mjOBJ_JOINT
    return spec.add_sensor(name=channel, type=SENSED[quantity], objtype=objtype, objname=joint.name)


def _named(model: mujoco.MjModel, kind: mjtObj, thing: Any) -> str:
    return object_name(model, kind, thing.id)
