"""How fast is a world? Scene-steps per second of the clone and of Box2D, by number of bodies.

.venv/bin/python benchmarks/worlds.py

Whole rollouts compiled, many scenes side by side; Box2D steps one scene after the other on one core, and on all cores in as many
processes. Both as they are used here: Box2D with 100 rounds and no warm starting, and, in a column of its own, with the 8 and 3
rounds and the warm starting that games use. Each figure is the best of several turns, since other programs only ever slow one
down. On a machine with a GPU the clone runs there. The file of --json is written after each row.
"""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tyro

from clone2d_scenes import DT_S, drawn, frames, picked
from frame import Benchmark, console, finish, start, write
from gapless.simulators.planar.scenes import Scenes
from gapless.simulators.planar.stored import members
from gapless.simulators.planar.teacher import Box2DWorld, Teacher

TURNS = 5
MOST_DRAWN = 256
"""Different scenes; more of them are repeated, which costs the clone no less."""
GAMES = Teacher(8, 3, warm=True)
Work = tuple[int, int, Teacher]
"""Bodies, steps, and how Box2D is run."""


@dataclass(frozen=True)
class Worlds(Benchmark):
    """Scene-steps per second."""

    bodies: tuple[int, ...] = (1, 5, 10, 20, 50)
    """Bodies beside the walls."""
    scenes: tuple[int, ...] = (256,)
    """Scenes side by side in the clone; large GPUs want thousands."""
    steps: int = 50
    """Steps of each."""
    box2d: bool = True
    """Whether Box2D is timed as well, which needs cores that do nothing else."""


def main() -> None:
    options = tyro.cli(Worlds, description=__doc__)
    counts, batches = (options.bodies[:2], (16,)) if options.quick else (options.bodies, options.scenes)
    rows, began = [], time.perf_counter()
    rates = {bodies: box2d_rates(bodies, options.steps) for bodies in counts} if options.box2d else {}
    for scenes, bodies in product(batches, counts):
        if time.perf_counter() - began > options.budget_s:
            console.print(f"Over its budget of {options.budget_s:.0f} s: rows after these are left out.")
            break
        rows.append(row(scenes, bodies, options.steps, rates.get(bodies, {})))
        console.print(rows[-1])
        write("worlds", options, ratios(rows), rows)
    finish("worlds", options, ratios(rows), rows, {})


def ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How many times as fast as Box2D on one core."""
    against = [(r, r["Box2D, one core"]) for r in rows if "Box2D, one core" in r]
    return {f"clone_vs_box2d_{r['bodies']}x{r['scenes']}": r["clone"] / rate for r, rate in against}


def row(scenes: int, bodies: int, steps: int, rates: dict[str, float]) -> dict[str, Any]:
    """One number of scenes, and of bodies in each."""
    some = drawn(Scenes("fall", (bodies, bodies)), min(scenes, MOST_DRAWN), 0, "speed")
    batch = jax.tree.map(lambda x: jnp.asarray(np.resize(x, (scenes, *x.shape[1:]))), some)
    clone = members()[0]
    began = time.perf_counter()
    jax.block_until_ready(frames(clone, *batch, steps))
    compiled_s = time.perf_counter() - began
    seconds = [_seconds(clone, batch, steps) for _ in range(TURNS)]
    return {
        "bodies": bodies, "device": jax.devices()[0].device_kind, "scenes": scenes, "clone": scenes * steps / min(seconds),
        "clone, median": scenes * steps / float(np.median(seconds)), "compiled in s": compiled_s, **rates,
    }  # fmt: skip


def _seconds(clone: Any, batch: Any, steps: int) -> float:
    began = time.perf_counter()
    jax.block_until_ready(frames(clone, *batch, steps))
    return time.perf_counter() - began


def box2d_rates(bodies: int, steps: int) -> dict[str, float]:
    """On one core, on all of them, and as games run it."""
    cores = len(os.sched_getaffinity(0))
    work = bodies, steps, Teacher()
    with ProcessPoolExecutor(cores, get_context("spawn"), _on_cpu) as pool:
        every = sum(pool.map(box2d_rate, [work] * cores))
    return {
        "Box2D, one core": box2d_rate(work), f"Box2D, {cores} cores": every,
        "Box2D as in games, one core": box2d_rate((bodies, steps, GAMES)),
    }  # fmt: skip


def _on_cpu() -> None:
    """Leave the GPU, if there is one, to the clone."""
    jax.config.update("jax_platforms", "cpu")


def box2d_rate(work: Work) -> float:
    """Steps per second of Box2D on one core."""
    bodies, steps, recipe = work
    scene, motion = drawn(Scenes("fall", (bodies, bodies)), 4, 0, "speed")
    seconds = []
    for _ in range(TURNS):
        worlds = [Box2DWorld(picked(scene, k), picked(motion, k), recipe) for k in range(4)]
        began = time.perf_counter()
        for world in worlds:
            for _ in range(steps):
                world.step(DT_S)
        seconds.append(time.perf_counter() - began)
    return 4 * steps / min(seconds)


if __name__ == "__main__":
    start(main)
