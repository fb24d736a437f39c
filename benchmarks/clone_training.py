"""A cell of the clone benchmark: one policy trained in the clone and one in C MuJoCo, both judged in C MuJoCo."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from clone_robots import ROBOTS, physics
from gapless.core import Belief, Gaussian, Params, Simulator, Task, key_for
from gapless.simulators import Rollout, logs_of
from gapless.simulators.neural import over_members
from gapless.simulators.neural.stored import cloned
from gapless.train import Ppo, Train, Trained, train

DOUBT = 0.15
"""Deviation of the belief, as a share of half the plausible range."""
LATENCY_S = 0.02
EPISODES = 64
BUDGETS = {"swingup": 400_000, "rotary-swingup": 400_000, "slide": 400_000, "hop": 800_000, "hop-back": 800_000}


def trained(setting: dict[str, Any]) -> dict[str, Any]:
    """Returns and times of both."""
    known = ROBOTS[setting["robot"]]
    task, seed = known.tasks[setting["task"]], setting["seed"]
    mujoco = physics(known.name)
    clone = cloned(mujoco, Path(setting["weights"]))
    belief, recipe = believed(mujoco), recipe_of(task, setting["quick"])
    ours, ours_s = timed(clone, over_members(belief, clone), task, recipe, seed)
    theirs, theirs_s = timed(mujoco, belief, task, recipe, seed)
    inside = judged(clone, over_members(belief, clone), task, ours, seed)
    outside, peer = (judged(mujoco, belief, task, t, seed) for t in (ours, theirs))
    return {
        "task": task.name, "seed": seed, "clone": inside[0], "mujoco": outside[0], "mujoco's own": peer[0],
        "kept": outside[0] / inside[0], "vs mujoco": outside[0] / peer[0], "passed": outside[1], "peer passed": peer[1],
        "clone s": ours_s, "mujoco s": theirs_s, "clone steps": ours.steps, "mujoco steps": theirs.steps,
    }  # fmt: skip


def believed(simulator: Simulator) -> Gaussian:
    """The model file's values with some doubt, and a latency."""
    free = [p for p in simulator.parameters if p.free]
    low, high = (np.array([getattr(p, side) for p in free], np.float64) for side in ("low", "high"))
    centre = np.array([LATENCY_S if p.name == "command.latency" else p.nominal for p in free], np.float64)
    return Gaussian(tuple(p.name for p in free), centre, np.diag((DOUBT * (high - low) / 2) ** 2), low, high)


def recipe_of(task: Task, quick: bool) -> Train:
    recipe = Train(Ppo(budget=BUDGETS[task.name]), looks=10, compiled=False)  # the yardstick is C MuJoCo
    return replace(recipe, method=replace(recipe.method, budget=60_000), looks=2) if quick else recipe


def timed(simulator: Simulator, belief: Belief, task: Task, recipe: Train, seed: int) -> tuple[Trained, float]:
    """A policy, and the seconds it took, compiling included."""
    began = time.perf_counter()
    found = train(simulator, belief, task, recipe, key_for(seed, "clone_robot", task.name))
    return found, time.perf_counter() - began


def judged(simulator: Simulator, belief: Belief, task: Task, found: Trained, seed: int) -> tuple[float, float]:
    """Mean return over the belief and the share that passes, from the same starts everywhere."""
    drawn: Params = {k: np.asarray(v, np.float64) for k, v in belief.sample(key_for(seed, "drawn"), EPISODES).items()}
    start = {k: np.asarray(v) for k, v in task.start(key_for(seed, "starts"), EPISODES).items()}
    episodes = Rollout(simulator.with_worlds(EPISODES), task).run(found.policy, drawn, jax.random.key(seed), start)
    passed = [task.judge(log).passed for log in logs_of(episodes, simulator)]
    return float(episodes.returns.mean()), float(np.mean(passed))
