"""A model's joints by name: their positions, velocities and forces, read from and written to a batch."""

import mujoco
import numpy as np
from mujoco.batch import Batch

from gapless.core import GaplessError, Signals

from .model import object_name
from .sensors import positions_and_velocities


class NamedJoints:
    """Where each joint's numbers stand in a batch."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._index = {object_name(model, mujoco.mjtObj.mjOBJ_JOINT, j): j for j in range(model.njnt)}
        self._columns = _columns(model, self._index)
        self.single = tuple(n for n, j in self._index.items() if _positions(model, j) == 1)
        """Those with one position: hinges and slides."""

    def read(self, batch: Batch) -> Signals:
        """`<joint>.position` and `<joint>.velocity` of all joints."""
        now = positions_and_velocities(batch).copy()
        return {name: now[:, columns] for name, columns in self._columns.items()}

    def begin(self, batch: Batch, worlds: np.ndarray, start: Signals) -> None:
        """These worlds begin where the model does, but for what `start` names."""
        batch.reset(worlds, stage=mujoco.mjtStage.mjSTAGE_NONE.value)
        self.put(batch, worlds, start)

    def put(self, batch: Batch, worlds: np.ndarray, start: Signals) -> None:
        """The named joint states of these worlds are those of `start`; all else stays."""
        for name, values in start.items():
            thing, _, quantity = name.rpartition(".")
            if thing not in self._index or quantity not in ("position", "velocity"):
                raise GaplessError(f"a start names {name!r}; the model's joints are {', '.join(self._index)}.")
            j = self._index[thing]
            rows = np.broadcast_to(np.asarray(values), (len(batch.state), np.shape(values)[-1]))[worlds]
            if quantity == "position":
                first, field_name = int(self._model.jnt_qposadr[j]), "qpos"
            else:
                first, field_name = int(self._model.jnt_dofadr[j]), "qvel"
            batch.bind(field_name)[worlds, first : first + rows.shape[1]] = rows

    def push(self, batch: Batch, forces: Signals) -> None:
        """`<joint>.force`, in N or N m, until the next."""
        applied = batch.bind("qfrc_applied")
        for name, values in forces.items():
            j = self._index.get(name.removesuffix(".force"), -1)
            if j >= 0 and name.endswith(".force"):
                first = int(self._model.jnt_dofadr[j])
                applied[:, first : first + values.shape[1]] = values

    def move(self, batch: Batch, changes: Signals) -> None:
        """Add `<joint>.position.change` and `<joint>.velocity.change` to the state."""
        for name, values in changes.items():
            columns = self._columns.get(name.removesuffix(".change"))
            if columns is not None and name.endswith(".change"):
                positions_and_velocities(batch)[:, columns] += values


def _columns(model: mujoco.MjModel, joints: dict[str, int]) -> dict[str, slice]:
    """Where each joint's position and velocity stand in `positions_and_velocities`."""
    found = {}
    for name, j in joints.items():
        p, v = int(model.jnt_qposadr[j]), model.nq + int(model.jnt_dofadr[j])
        found[f"{name}.position"] = slice(p, p + _positions(model, j))
        found[f"{name}.velocity"] = slice(v, v + _velocities(model, j))
    return found


def _positions(model: mujoco.MjModel, joint: int) -> int:
    return {mujoco.mjtJoint.mjJNT_FREE: 7, mujoco.mjtJoint.mjJNT_BALL: 4}.get(mujoco.mjtJoint(model.jnt_type[joint]), 1)


def _velocities(model: mujoco.MjModel, joint: int) -> int:
    return {mujoco.mjtJoint.mjJNT_FREE: 6, mujoco.mjtJoint.mjJNT_BALL: 3}.get(mujoco.mjtJoint(model.jnt_type[joint]), 1)
