"""What a model says about one joint along a recorded motion: the inertia it turns, the load on it, and how that load changes."""

from dataclasses import dataclass

import mujoco
import numpy as np
from jaxtyping import Float

NUDGE = 1e-4


@dataclass(frozen=True)
class Surroundings:
    """At each sample, with every other joint where and as fast as it was recorded."""

    inertia: Float[np.ndarray, " time"]
    load: Float[np.ndarray, " time"]
    """Gravity, springs, the speed of all joints and the others' acceleration; not the joint's own damping and friction."""
    pull: Float[np.ndarray, " time"]
    """The load's change per unit of the joint's position."""


def surroundings(
    model: mujoco.MjModel, joint: int, positions: np.ndarray, velocities: np.ndarray, accelerations: np.ndarray
) -> Surroundings:
    """Along qpos, qvel and qacc, each (time, column). Contacts and limits are not considered."""
    state, full = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    dof, column = int(model.jnt_dofadr[joint]), int(model.jnt_qposadr[joint])
    found = np.empty((len(positions), 3))

    def load(position: np.ndarray, velocity: np.ndarray) -> float:
        state.qpos[:], state.qvel[:] = position, velocity
        mujoco.mj_fwdPosition(model, state)
        mujoco.mj_fwdVelocity(model, state)
        return float(state.qfrc_passive[dof] - state.qfrc_damper[dof] - state.qfrc_bias[dof])

    for k, (position, velocity, acceleration) in enumerate(zip(positions, velocities, accelerations, strict=True)):
        nudged = position.copy()
        nudged[column] += NUDGE
        there, here = load(nudged, velocity), load(position, velocity)
        mujoco.mj_fullM(model, state, full)
        others = full[dof] @ acceleration - full[dof, dof] * acceleration[dof]
        found[k] = full[dof, dof], here - others, (there - here) / NUDGE
    return Surroundings(*found.T)
