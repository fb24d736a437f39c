"""Explicit damping of second order: half a step's damping is held in the armature, and must follow the damping."""

import mujoco
import numpy as np
from jaxtyping import Float


def held_in_armature(model: mujoco.MjModel) -> Float[np.ndarray, " dof"]:
    """How much of each armature is half a step's damping: all of that where the model damps explicitly and has room for it.

    (M + h/2 c) Δv = h (F − c v) damps by the mean speed over the step; without the armature it would damp by the first.
    """
    explicit = (
        model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER
        and model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    )
    half = model.opt.timestep / 2 * model.dof_damping
    return np.where(bool(explicit) & (model.dof_armature >= half * (1 - 1e-9)), half, 0.0)


def damp_explicitly(model: mujoco.MjModel) -> None:
    """Damp by the mean speed over each of Euler's steps; the armature must not hold any damping yet."""
    model.dof_armature[:] += model.opt.timestep / 2 * model.dof_damping
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP.value
