"""How fast is physics without contact when it is compiled, beside MuJoCo's own batch, and how far do they part?

.venv/bin/python benchmarks/compiled.py
"""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import tyro

from beginnings import TASKS
from frame import Benchmark, finish, start
from gapless.core import key_for, prior_belief
from gapless.engine import new_workspace
from gapless.simulators import CompiledSimulator, MujocoSimulator
from gapless.simulators.equations import rolling
from gapless.train import Ppo
from gapless.train.learning import Place

ROBOTS = ("cartpole", "furuta", "arm")
STEPS = 125
"""Of an open loop: half a second."""


@dataclass(frozen=True)
class Compiled(Benchmark):
    """Compiled physics beside MuJoCo's batch, on the same cores in one run."""

    worlds: int = 2048
    """Worlds of the open loops."""
    rounds: int = 5
    """Turns of each side; ratios are medians over them."""


def main() -> None:
    options = tyro.cli(Compiled, description=__doc__)
    rounds = 2 if options.quick else options.rounds
    rows = [row(robot, options.worlds, rounds) for robot in ROBOTS]
    figures = {
        key: min(float(r[column]) for r in rows)
        for key, column in (("open_loop_ratio", "open loops"), ("training_ratio", "training"))
    }
    figures["off_most"] = max(r["off"] for r in rows)
    finish("compiled", options, figures, rows, {})


def row(robot: str, worlds: int, rounds: int) -> dict[str, Any]:
    """One robot: speed of open loops and of trainings, compiled over MuJoCo's, and how far open loops part in half a second."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = new_workspace(Path(folder) / "workspace", robot, TASKS[robot])
        physics = workspace.simulator
        theirs, ours, off = open_loops(physics, worlds, rounds)
        places = [
            Place(s, prior_belief(workspace.parameters), workspace.task) for s in (physics, CompiledSimulator(physics))
        ]
        trained = np.array([periods_per_s(place, rounds) for place in places])
    return {
        "robot": robot, "Batch, M steps/s": theirs, "compiled, M steps/s": ours, "open loops": ours / theirs, "off": off,
        "PPO in Batch, periods/s": float(np.median(trained[0])), "PPO compiled, periods/s": float(np.median(trained[1])),
        "training": float(np.median(trained[1] / trained[0])),
    }  # fmt: skip


def open_loops(physics: MujocoSimulator, worlds: int, rounds: int) -> tuple[float, float, float]:
    """Millions of steps per second of MuJoCo and of its equations in double precision, and the largest share of the motion by
    which joints are elsewhere at the end."""
    simulator, rng, model = physics.with_worlds(worlds), np.random.default_rng(0), physics.model
    known = [p for p in simulator.parameters if p.free]
    params = {p.name: rng.uniform(p.low, p.high, worlds) for p in known}
    begin = {f"{j}.position": rng.normal(0, 0.5, (worlds, 1)) for j in simulator.joints}
    state, _, _ = simulator.reset(simulator.init(), np.ones(worlds, bool), params, begin, jax.random.key(0))
    control = rng.uniform(-5, 5, (worlds, STEPS // 5, model.nu)).repeat(5, axis=1)
    own = rolling(model, tuple(p.name for p in simulator.physical))
    assert own is not None
    first, applied = state.batch.state.copy(), np.zeros((worlds, model.nv))
    position, velocity = first[:, 1 : 1 + model.nq], first[:, 1 + model.nq : 1 + model.nq + model.nv]
    own.roll(state.params, position, velocity, control, applied)
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        state.batch.state[:] = first
        began = time.perf_counter()
        recorded = state.batch.rollout(STEPS, control, record=("qpos", "qvel"))
        between = time.perf_counter()
        trail = own.roll(state.params, position, velocity, control, applied)
        times.append((between - began, time.perf_counter() - between))
    speeds = worlds * STEPS / np.median(times, axis=0) / 1e6
    moved = np.abs(recorded["qpos"][:, -1] - position).max(axis=0)
    return (
        float(speeds[0]),
        float(speeds[1]),
        float((np.abs(recorded["qpos"] - trail[0])[:, -1].max(axis=0) / moved).max()),
    )


def periods_per_s(place: Place, rounds: int) -> list[float]:
    """Control periods per second that PPO learns from, compiling apart."""
    method = Ppo()
    learning = method.learning(place, key_for(0, "compiled"))
    learning.iterate(key_for(0, "first"), 2)
    found = []
    for k in range(rounds):
        began = time.perf_counter()
        learning.iterate(key_for(0, "round", k), 10)
        found.append(10 * method.per_iteration / (time.perf_counter() - began))
    return found


if __name__ == "__main__":
    start(main)
