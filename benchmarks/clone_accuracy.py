"""A cell of the clone benchmark: motions that the clone was not taught, half a second ahead."""

import copy
from pathlib import Path
from typing import Any

import jax
import numpy as np

from clone_robots import ROBOTS, physics, skeleton
from gapless.core import generator_for
from gapless.learn.clone_robot.fit import foretold
from gapless.learn.clone_robot.lessons import Drawing, Lessons, Teach, played
from gapless.simulators import MujocoSimulator
from gapless.simulators.explicit_damping import held_in_armature
from gapless.simulators.neural.stored import clones_of_robot

HORIZON = 25
"""Periods of 20 ms."""


def accuracy(setting: dict[str, Any]) -> dict[str, Any]:
    """Errors at 0.5 s, as shares of how far the motion goes; over joints, the mean."""
    known = ROBOTS[setting["robot"]]
    recipe = Teach(200 if setting["quick"] else 1000, HORIZON, 200 if setting["quick"] else 1000)
    rng = generator_for(1, known.name, "accuracy")
    drawing = Drawing(physics(known.name).with_worlds(recipe.worlds), known.reach, known.begins, recipe)
    params, start, sent, truth = drawing.written(rng)
    again = played(halved(drawing.simulator), params, start, sent)
    inside = truth.counts[:, -1] > 0
    members = clones_of_robot(known.name, Path(setting["weights"]))
    ahead = jax.jit(lambda clone: foretold(clone, skeleton(known.name), truth)[0])
    ours = [errors(np.asarray(ahead(c)), truth, inside) for c in members]
    spread, joints = np.mean([e.mean() for e in ours]), drawing.simulator.joints
    each = np.mean([e.mean(0) for e in ours], 0) * moved(truth, inside)
    theirs = errors(again.position, truth, inside)
    return {
        "robot": known.name, "stretches": int(inside.sum()),
        "clone": float(spread), "halved step": float(theirs.mean()), "clone / halved": float(spread / theirs.mean()),
        **{f"{joint} mean": float(each[k]) for k, joint in enumerate(joints)},
    }  # fmt: skip


def errors(found: np.ndarray, truth: Lessons, inside: np.ndarray) -> np.ndarray:
    """Of each stretch and joint."""
    return np.abs(found - truth.position)[inside, -1] / moved(truth, inside)


def moved(truth: Lessons, inside: np.ndarray) -> np.ndarray:
    """How far each joint typically goes in that time."""
    gone = (truth.position[:, -1] - truth.position[:, 0])[inside]
    return np.sqrt((gone**2).mean(0))


def halved(simulator: MujocoSimulator) -> MujocoSimulator:
    """The same model at half its time step, with what the file says in time steps halved, too."""
    model = copy.copy(simulator.model)
    step_s = model.opt.timestep
    model.opt.timestep = step_s / 2
    model.dof_armature[:] -= held_in_armature(simulator.model) / 2
    stiffest = model.dof_solref[:, 0] <= 2 * step_s * (1 + 1e-9)
    model.dof_solref[:, 0] = np.where(stiffest & (model.dof_solref[:, 0] > 0), step_s, model.dof_solref[:, 0])
    return MujocoSimulator(model, simulator.interface, simulator.parameters, simulator.worlds)
