"""How fast is a world? Scene-steps per second of the clone and of Box2D, by number of bodies.

.venv/bin/python benchmarks/worlds.py

Whole rollouts compiled, many scenes side by side; Box2D steps one scene after the other on one core, and on all cores in as many
processes. Both as they are used here: Box2D with 100 rounds and no warm starting, and, in a column of its own, with the 8 and 3
rounds and the warm starting that games use. On a machine with a GPU the clone runs there.
"""

import functools
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from typing import Any

import jax
import numpy as np
import tyro

from clone2d import drawn, picked, rolled
from frame import Benchmark, console, finish
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
    scenes: tuple[int, ...] = (256,)
    """Scenes side by side in the clone; large GPUs want thousands."""
    steps: int = 50
    """Steps of each."""


def main() -> None:
    options = tyro.cli(Worlds, description=__doc__)
    bodies, scenes = (options.bodies[:2], (16,)) if options.quick else (options.bodies, options.scenes)
    rows, began = [], time.perf_counter()
    for setting in product(scenes, bodies):
        if time.perf_counter() - began > options.budget_s:
            break
        rows.append(row(*setting, options.steps))
        console.print(rows[-1])
    ratios = {f"clone_vs_box2d_{r['bodies']}x{r['scenes']}": r["clone / Box2D, one core"] for r in rows}
    finish("worlds", options, ratios, rows, {})


def row(scenes: int, bodies: int, steps: int) -> dict[str, Any]:
    """One number of scenes, and of bodies in each."""
    some = drawn(Scenes("fall", (bodies, bodies)), min(scenes, MOST_DRAWN), 0, "speed")
    batch = jax.tree.map(lambda x: np.resize(x, (scenes, *x.shape[1:])), some)
    clone = members()[0]
    rolled(clone, batch, steps)  # compiled
    began = time.perf_counter()
    rolled(clone, batch, steps)
    ours = scenes * steps / (time.perf_counter() - began)
    rates = box2d_rates(bodies, steps)
    return {
        "bodies": bodies, "device": jax.devices()[0].device_kind, "scenes": scenes, "clone": ours, **rates,
        "clone / Box2D, one core": ours / rates["Box2D, one core"],
    }  # fmt: skip


@functools.cache
def box2d_rates(bodies: int, steps: int) -> dict[str, float]:
    """On one core, on all of them, and as games run it."""
    cores = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(cores, get_context("spawn"), _on_cpu) as pool:
        every = sum(pool.map(box2d_rate, [(bodies, steps, False)] * cores))
    return {
        "Box2D, one core": box2d_rate((bodies, steps, False)), f"Box2D, {cores} cores": every,
        "Box2D as in games, one core": box2d_rate((bodies, steps, True)),
    }  # fmt: skip


def _on_cpu() -> None:
    """Leave the GPU, if there is one, to the clone."""
    jax.config.update("jax_platforms", "cpu")


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
