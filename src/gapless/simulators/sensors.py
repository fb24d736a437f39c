"""Reading a batch's sensors: straight from the state where they are joint positions and velocities, else from MuJoCo."""

import mujoco
import numpy as np
from jaxtyping import Float
from mujoco.batch import Batch

from gapless.core import GaplessError, Interface, Signals, unstack

from .model import object_name


class Sensors:
    """The columns of qpos and qvel, or of sensordata, that make up each measured channel."""

    def __init__(self, model: mujoco.MjModel, interface: Interface) -> None:
        self.widths = interface.measurement_widths
        joints = {object_name(model, mujoco.mjtObj.mjOBJ_JOINT, j): j for j in range(model.njnt)}
        columns = [_state_column(model, joints, name) for name in self.widths]
        names = {int(model.jnt_qposadr[j]): (n, "position") for n, j in joints.items()}
        names |= {model.nq + int(model.jnt_dofadr[j]): (n, "velocity") for n, j in joints.items()}
        self.sensed = {n: names[c] for n, c in zip(self.widths, columns, strict=True) if c is not None}
        self.direct = all(c is not None for c in columns)
        if self.direct:
            self.columns = np.array([c for c in columns if c is not None])
        else:
            self.columns = np.concatenate([_sensor_columns(model, n, w) for n, w in self.widths.items()])

    @property
    def record(self) -> tuple[str, ...]:
        """What a rollout must record for `trail`."""
        return ("qpos", "qvel") if self.direct else ("sensordata",)

    def now(self, batch: Batch) -> Float[np.ndarray, "world column"]:
        """What all channels read in the present state, side by side."""
        if self.direct:
            return positions_and_velocities(batch)[:, self.columns]
        batch.bind("sensordata")
        batch.forward()
        return batch.bind("sensordata")[:, self.columns]

    def trail(self, before: np.ndarray, recorded: dict, after: np.ndarray) -> Float[np.ndarray, "world step1 column"]:
        """What all channels read from the start of a rollout to its end, at every substep."""
        if self.direct:
            values = np.concatenate([recorded["qpos"], recorded["qvel"]], axis=2)[..., self.columns]
            return np.concatenate([before[:, None], values], axis=1)
        # MuJoCo's sensordata after a substep describes the state before it.
        return np.concatenate([recorded["sensordata"][..., self.columns], after[:, None]], axis=1)

    def named(self, values: np.ndarray) -> Signals:
        """Columns cut into channels."""
        return unstack(values, self.widths)


def between(trail: Float[np.ndarray, "world step column"], at: Float[np.ndarray, "world query column"]) -> np.ndarray:
    """Rows of a trail at fractional indices, by linear interpolation; before its begin it is taken to have gone straight."""
    at = np.minimum(at, trail.shape[1] - 1)
    low = np.clip(at.astype(int), 0, trail.shape[1] - 2)
    share, worlds, columns = at - low, np.arange(len(trail))[:, None, None], np.arange(trail.shape[2])
    return trail[worlds, low, columns] * (1 - share) + trail[worlds, low + 1, columns] * share


def positions_and_velocities(batch: Batch) -> Float[np.ndarray, "world column"]:
    """A live view of qpos and, beside it, qvel: in MuJoCo's state they follow the time."""
    return batch.state[:, 1 : 1 + batch.model.nq + batch.model.nv]


def _state_column(model: mujoco.MjModel, joints: dict[str, int], name: str) -> int | None:
    sensor = _sensor(model, name)
    if sensor >= 0:
        if model.sensor_cutoff[sensor] > 0 or model.sensor_delay[sensor] > 0:
            return None  # MuJoCo's own doing, so MuJoCo must do it
        kind = mujoco.mjtSensor(model.sensor_type[sensor])
        joint = int(model.sensor_objid[sensor])
        if kind == mujoco.mjtSensor.mjSENS_JOINTPOS:
            return int(model.jnt_qposadr[joint])
        if kind == mujoco.mjtSensor.mjSENS_JOINTVEL:
            return model.nq + int(model.jnt_dofadr[joint])
        return None
    thing, _, quantity = name.rpartition(".")
    if thing in joints and quantity == "position":
        return int(model.jnt_qposadr[joints[thing]])
    if thing in joints and quantity == "velocity":
        return model.nq + int(model.jnt_dofadr[joints[thing]])
    return None


def _sensor(model: mujoco.MjModel, name: str) -> int:
    known = (object_name(model, mujoco.mjtObj.mjOBJ_SENSOR, i) for i in range(model.nsensor))
    return next((i for i, n in enumerate(known) if n == name), -1)


def _sensor_columns(model: mujoco.MjModel, name: str, width: int) -> np.ndarray:
    sensor = _sensor(model, name)
    if sensor < 0:
        raise GaplessError(f"the model has no sensor called {name!r}. Add it to <sensor>, or drop the channel.")
    if model.sensor_dim[sensor] != width:
        raise GaplessError(f"sensor {name!r} has {model.sensor_dim[sensor]} numbers and its channel {width}.")
    first = int(model.sensor_adr[sensor])
    return np.arange(first, first + width)
