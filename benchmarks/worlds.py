"""How fast is a world? Scene-steps per second of the clone and of Box2D, by number of bodies.

.venv/bin/python benchmarks/worlds.py

Whole rollouts compiled, many scenes side by side; Box2D steps one scene after the other on one core, and on all cores in as many
processes. Both as they are used here: Box2D with 100 rounds and no warm starting, and, in a column of its own, with the 8 and 3
rounds and the warm starting that games use. On a machine with a GPU the clone runs there.
"""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import jax
import numpy as np
import tyro

from clone2d import drawn, picked, rolled
from frame import Benchmark, finish
from gapless.simulators.planar.scenes import Scenes
from gapless.simulators.planar.stored import members
from gapless.simulators.planar.teacher import Box2DWorld, Teacher

DT_S = 1 / 60
MOST_DRAWN = 256
"""Different scenes; more of them are repeated, which costs the clone no less."""
GAMES = Teacher(8, 3, warm=True)


@dataclass(frozen=True)
class Worlds(Benchmark):
    """Scene-steps per second."""

    bodies: tuple[int, ...] = (1, 5, 10, 20, 50)
    """Bodies beside the walls."""
    scenes: int = 256
    """Scenes side by side in the clone; large GPUs want thousands."""
    steps: int = 50
    """Steps of each."""


def main() -> None:
    options = tyro.cli(Worlds, description=__doc__)
    counts = options.bodies[:2] if options.quick else options.bodies
    rows = [row(count, options) for count in counts]
    finish("worlds", options, {f"clone_vs_box2d_{r['bodies']}": r["clone / Box2D, one core"] for r in rows}, rows, {})


def row(bodies: int, options: Worlds) -> dict[str, Any]:
    """One number of bodies."""
    scenes = 16 if options.quick else options.scenes
    some = drawn(Scenes("fall", (bodies, bodies)), min(scenes, MOST_DRAWN), 0, "speed")
    batch = jax.tree.map(lambda x: np.resize(x, (scenes, *x.shape[1:])), some)
    clone = members()[0]
    rolled(clone, batch, options.steps)  # compiled
    began = time.perf_counter()
    rolled(clone, batch, options.steps)
    ours = scenes * options.steps / (time.perf_counter() - began)
    one = box2d_rate((bodies, options.steps, False))
    games = box2d_rate((bodies, options.steps, True))
    cores = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:
        every = sum(pool.map(box2d_rate, [(bodies, options.steps, False)] * cores))
    return {
        "bodies": bodies, "device": jax.devices()[0].device_kind, "scenes": scenes, "clone": ours, "Box2D, one core": one,
        f"Box2D, {cores} cores": every, "Box2D as in games, one core": games, "clone / Box2D, one core": ours / one,
    }  # fmt: skip


def box2d_rate(work: tuple[int, int, bool]) -> float:
    """Steps per second of Box2D on one core."""
    bodies, steps, games = work
    scene, motion = drawn(Scenes("fall", (bodies, bodies)), 4, 0, "speed")
    recipe = GAMES if games else Teacher()
    worlds = [Box2DWorld(picked(scene, k), picked(motion, k), recipe) for k in range(4)]
    began = time.perf_counter()
    for world in worlds:
        for _ in range(steps):
            world.step(DT_S)
    return len(worlds) * steps / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
