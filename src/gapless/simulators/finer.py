"""The same simulator integrated better, by a solver that does not stop early: what the numerics leave out."""

import copy

import mujoco

from gapless.core import Simulator

from .mujoco_cpu import MujocoSimulator
from .traceable import TraceableSimulator

TOLERANCE = 1e-12
ITERATIONS = 200


def finer(simulator: Simulator) -> Simulator | None:
    """MuJoCo with a fourth-order integrator at half the time step, others at a quarter; None where nobody knows how."""
    if isinstance(simulator, MujocoSimulator):
        model = copy.copy(simulator.model)
        model.opt.timestep, model.opt.integrator = simulator.model.opt.timestep / 2, mujoco.mjtIntegrator.mjINT_RK4
        model.opt.tolerance = min(model.opt.tolerance, TOLERANCE)
        model.opt.iterations = max(model.opt.iterations, ITERATIONS)
        return MujocoSimulator(model, simulator.interface, simulator.parameters, simulator.worlds, simulator.around)
    if isinstance(simulator, TraceableSimulator):
        return type(simulator)(simulator.interface, simulator.parameters, 4 * simulator.substeps, simulator.worlds)
    return None
