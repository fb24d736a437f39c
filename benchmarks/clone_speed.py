"""Cells of the clone benchmark: simulated seconds per second, against MuJoCo's Batch on the CPU and MuJoCo Warp on a GPU."""

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from mujoco.batch import Batch

from clone_robots import physics
from gapless.simulators import MujocoSimulator
from gapless.simulators.mujoco_cpu import THREADS
from gapless.simulators.neural import CloneSimulator
from gapless.simulators.neural.stored import cloned as cloned_robot
from warp_speed import PERIODS, rate, warp_rates

WORLDS = (256, 1024, 4096)
ROUNDS = 7
GPU_WORLDS = (131072, 524288)


def speed(setting: dict[str, Any]) -> dict[str, Any]:
    """Each at the number of worlds that suits it best, in rounds that take turns; the median round."""
    mujoco = physics(setting["robot"])
    clone = cloned_robot(mujoco, Path(setting["weights"]), 1)
    sides = {"clone": partial(cloned, clone), "batch": partial(batched, mujoco)}
    best = _best(sides, WORLDS, 2 if setting["quick"] else ROUNDS, mujoco)
    return {"robot": setting["robot"], **best, "clone / batch": best["clone"] / best["batch"]}


def _best(
    sides: dict[str, Callable[[int], Callable[[], Any]]], worlds: Sequence[int], rounds: int, mujoco: MujocoSimulator
) -> dict[str, float]:
    """Of each side, the median round at the number of worlds that suits it best; rounds take turns."""
    runs = {(side, n): make(n) for side, make in sides.items() for n in worlds}
    found = [{key: rate(run, key[1], mujoco) for key, run in runs.items()} for _ in range(rounds)]
    medians = {key: float(np.median([row[key] for row in found])) for key in runs}
    return {side: max(medians[side, n] for n in worlds) for side in sides}


def cloned(clone: CloneSimulator, worlds: int) -> Callable[[], Any]:
    """The whole simulator, latency and sensors included, compiled, under random commands."""
    simulator = clone.with_worlds(worlds)
    state, _, _ = simulator.reset(simulator.init(), np.ones(worlds, bool), {}, {}, jax.random.key(0))
    sent = jax.random.uniform(jax.random.key(1), (PERIODS, worlds, simulator.interface.command_width), minval=-1.0)

    @jax.jit
    def run(state: Any, sent: jax.Array) -> Any:
        def body(state: Any, row: Any) -> Any:
            row, key = row
            command = {c.name: c.high * row[:, k : k + 1] for k, c in enumerate(simulator.interface.commands)}
            state, seen, _ = simulator.step(state, command, key)
            return state, [v[0] for v in seen.values()]

        return jax.lax.scan(body, state, (sent, jax.random.split(jax.random.key(0), PERIODS)))

    jax.block_until_ready(run(state, sent))
    return lambda: jax.block_until_ready(run(state, sent))


def batched(mujoco: MujocoSimulator, worlds: int) -> Callable[[], Any]:
    """Bare physics in one call, under random commands held for a period."""
    batch = Batch(mujoco.model, worlds, THREADS)
    high = np.array([c.high for c in mujoco.interface.commands])
    held = np.random.default_rng(0).uniform(-high, high, (worlds, PERIODS, len(high)))
    control = np.repeat(held, mujoco.substeps, axis=1)

    def run() -> None:
        batch.reset()
        batch.rollout(control.shape[1], control, record=())

    run()
    return run


def speed_against_warp(robots: Sequence[str], weights: Path, rounds: int = 3) -> list[dict[str, Any]] | None:
    """One row per robot where both MuJoCo Warp and a GPU are here; None elsewhere."""
    if importlib.util.find_spec("mujoco_warp") is None or jax.default_backend() != "gpu":
        return None
    return [list(against_warp(robot, weights, GPU_WORLDS, rounds))[-1] for robot in robots]


def against_warp(robot: str, weights: Path, worlds: Sequence[int], rounds: int) -> Iterator[dict[str, Any]]:
    """What is known of a robot after each number of worlds: of both sides the best so far, and their ratio."""
    mujoco, row = physics(robot), {"robot": robot, "clone": 0.0, "warp": 0.0}
    clone = cloned_robot(mujoco, weights, 1)
    sides = {"clone": partial(_clone_rates, clone, mujoco), "warp": partial(warp_rates, robot)}
    for n in worlds:
        for side, measure in sides.items():
            row[f"{side}, {n}"] = float(np.median(measure(n, rounds)))
            row[side] = max(row[side], row[f"{side}, {n}"])
            yield dict(row)
        row["clone / warp"] = row["clone"] / row["warp"]
        yield dict(row)


def _clone_rates(clone: CloneSimulator, mujoco: MujocoSimulator, worlds: int, rounds: int) -> list[float]:
    run = cloned(clone, worlds)
    return [rate(run, worlds, mujoco) for _ in range(rounds)]
