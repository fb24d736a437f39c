"""The same simulator integrated better, by a solver that does not stop early: what the numerics leave out."""

import copy

import mujoco
import numpy as np

from gapless.core import Simulator

from .explicit_damping import damp_explicitly, held_in_armature
from .mujoco_cpu import MujocoSimulator
from .traceable import TraceableSimulator

TOLERANCE = 1e-12
ITERATIONS = 200
STIFFEST = 2.0
"""MuJoCo's constraints are no faster than this many time steps: one so fast means "as stiff as may be"."""


def finer(simulator: Simulator) -> Simulator | None:
    """MuJoCo with a fourth-order integrator at half the time step, others at a quarter; None where nobody knows how.

    Dry friction is solved once a step whatever the integrator, so that a model with some gets smaller steps instead, and
    damping of second order: MuJoCo's implicit damping would weigh its joints a whole step's damping too much.
    """
    if isinstance(simulator, MujocoSimulator):
        model = _finer_model(simulator.model, _is_dry(simulator))
        return MujocoSimulator(model, simulator.interface, simulator.parameters, simulator.worlds, simulator.around)
    if isinstance(simulator, TraceableSimulator):
        return type(simulator)(simulator.interface, simulator.parameters, 4 * simulator.substeps, simulator.worlds)
    return None


def _is_dry(simulator: MujocoSimulator) -> bool:
    return bool(simulator.model.dof_frictionloss.any()) or any(
        p.name.endswith(".friction") for p in simulator.parameters
    )


def _finer_model(own: mujoco.MjModel, dry: bool) -> mujoco.MjModel:
    model, held, step_s = copy.copy(own), held_in_armature(own), own.opt.timestep
    model.dof_armature[:] -= held
    model.opt.timestep = step_s / (4 if dry else 2)
    if not dry:
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    elif model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER:
        damp_explicitly(model)
    stiffest = (own.dof_solref[:, 0] > 0) & (own.dof_solref[:, 0] <= STIFFEST * step_s * (1 + 1e-9))
    model.dof_solref[:, 0] = np.where(stiffest, STIFFEST * model.opt.timestep, own.dof_solref[:, 0])
    model.opt.tolerance = min(model.opt.tolerance, TOLERANCE)
    model.opt.iterations = max(model.opt.iterations, ITERATIONS)
    mujoco.mj_setConst(model, mujoco.MjData(model))  # simple bodies keep the inertia that they were compiled with
    return model
