"""Teach the two plain networks of `clone2d.py` what the clone is taught, from ten times as many scenes, and keep their weights.

.venv/bin/python benchmarks/clone2d_rivals.py

Like the clone they meet pairs first and scenes of many bodies then, from the clone's own recipes. Unlike it they are taught to go
on from what they said themselves, several steps in a row, without which they do not last. Each is taught for as many steps as
fit its time; made for a GPU. `held out` is the error that the clone's own course reports, one step ahead.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import tyro

from clone2d import RIVALS
from frame import Benchmark, console, finish
from gapless.core import generator_for, key_for
from gapless.learn.clone import Course, Lessons, Teach, lesson_loss, lessons, rolled_loss
from gapless.nets.weights import save_weights
from gapless.simulators.planar.baselines import ObjectTransformer, VertexGraph
from gapless.simulators.planar.scene import Motion, Scene

KINDS = {"vertices": VertexGraph, "transformer": ObjectTransformer}
KEPT, LAST = 0.998, 0.01
"""Share of the running mean of weights that each step keeps, and of the rate that is left."""
PAIRS_SHARE = 0.15
"""Of the time."""


@dataclass(frozen=True)
class Rivals(Benchmark):
    """Plain networks on the clone's own lessons."""

    course: Course = field(default_factory=Course)
    """The clone's."""
    networks: tuple[str, ...] = tuple(KINDS)
    """Which are taught."""
    times: int = 10
    """Scenes for each of the clone's."""
    length: int = 5
    """Steps that a network goes on by itself."""
    batch: int = 128
    """Stretches per step."""
    stride: int = 100
    """Steps between looks at the clock."""
    rate: float = 1e-3
    """Learning rate at the start; it falls along a cosine."""
    seconds: float = 540.0
    """Time for each network: with its compilation, without its lessons."""
    seed: int = 0
    """As the clone's."""
    out: Path = RIVALS
    """Where the weights go."""
    lessons_at: Path | None = None
    """A folder in which lessons are kept, and found by the next network."""


class Taught(NamedTuple):
    """A network while it learns."""

    arrays: Any
    memory: Any
    mean: Any
    """The running mean of the weights: what is kept in the end."""


def main() -> None:
    options = tyro.cli(Rivals, description=__doc__)
    if options.quick:
        options = replace(options, times=1, seconds=60.0, batch=16, stride=10)
    recipes = {"pairs": options.course.pairs, "scenes": options.course.scenes}
    made = {name: _lessons(name, recipe, options) for name, recipe in recipes.items()}
    rows = [row(name, made, options) for name in options.networks]
    finish("clone2d_rivals", options, {}, rows, {})


def row(name: str, made: dict[str, tuple[Lessons, Lessons]], options: Rivals) -> dict[str, Any]:
    """One network, taught and kept."""
    network, key, done = KINDS[name](key_for(options.seed, "rival", name)), key_for(options.seed, "order", name), {}
    shares = {"pairs": PAIRS_SHARE, "scenes": 1 - PAIRS_SHARE}
    file = options.out / f"{name}.safetensors"
    options.out.mkdir(parents=True, exist_ok=True)
    for k, (part, share) in enumerate(shares.items()):
        taught, held_out = jax.tree.map(jnp.asarray, made[part])
        keep = (lambda found: save_weights(file, found)) if part == "scenes" else (lambda found: None)
        fit = Fit(taught, held_out, share * options.seconds, f"{name}, {part}", keep)
        network, done[f"steps on {part}"] = fit_for(network, fit, options, jax.random.fold_in(key, k))
    held_out = jax.tree.map(jnp.asarray, made["scenes"][1])
    return {
        "model": name, "parameters": sum(x.size for x in jax.tree.leaves(eqx.filter(network, eqx.is_inexact_array))), **done,
        "stretches": len(made["scenes"][0].dt_s), "held out": float(eqx.filter_jit(lesson_loss)(network, held_out, key)),
        "seconds": options.seconds, "device": jax.devices()[0].device_kind,
    }  # fmt: skip


class Fit(NamedTuple):
    """One part of the teaching."""

    taught: Lessons
    held_out: Lessons
    seconds: float
    title: str
    keep: Callable[[Any], None]
    """Called with the network now and then, so that an interruption costs little."""


def fit_for(network: Any, fit: Fit, options: Rivals, key: Any) -> tuple[Any, int]:
    """The network after its time, and the steps that it took."""
    arrays, static = eqx.partition(network, eqx.is_inexact_array)
    adam = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())
    run, look = _compiled(static, adam, options)
    held, began, steps, told = Taught(arrays, adam.init(arrays), arrays), time.perf_counter(), 0, 0.0
    while (share := (time.perf_counter() - began) / fit.seconds) < 1:
        rate = options.rate * min(1.0, steps / 500 + 0.1) * (LAST + (1 - LAST) * (1 + np.cos(np.pi * share)) / 2)
        held, loss = run(held, fit.taught, rate, jax.random.fold_in(key, steps))
        loss.block_until_ready()
        steps += options.stride
        if share > told + 0.05:
            told, found = share, eqx.combine(held.mean, static)
            fit.keep(found)
            ahead = float(look(held.mean, fit.held_out))
            console.print(
                f"{fit.title}: {100 * share:.0f} %, {steps} steps, error {float(loss):.3f}, held out {ahead:.3f}"
            )
    found = eqx.combine(held.mean, static)
    fit.keep(found)
    return found, steps


def _compiled(static: Any, adam: Any, options: Rivals) -> tuple[Callable, Callable]:
    """Many steps of learning, and a look at lessons held out."""

    def error(arrays: Any, rows: Lessons) -> Any:
        return rolled_loss(eqx.combine(arrays, static), rows)

    @jax.jit
    def run(held: Taught, taught: Lessons, rate: Any, key: Any) -> tuple[Taught, Any]:
        def step(held: Taught, key: Any) -> tuple[Taught, Any]:
            chosen = jax.random.randint(key, (options.batch,), 0, len(taught.dt_s))
            loss, grads = jax.value_and_grad(error)(held.arrays, jax.tree.map(lambda x: x[chosen], taught))
            changes, memory = adam.update(grads, held.memory)
            arrays = jax.tree.map(lambda a, c: a - rate * c, held.arrays, changes)
            mean = jax.tree.map(lambda m, a: KEPT * m + (1 - KEPT) * a, held.mean, arrays)
            return Taught(arrays, memory, mean), loss

        held, losses = jax.lax.scan(step, held, jax.random.split(key, options.stride))
        return held, jnp.mean(losses)

    return run, jax.jit(error)


def _lessons(name: str, recipe: Teach, options: Rivals) -> tuple[Lessons, Lessons]:
    """Taught, and held out; found again where they are kept."""
    longer = replace(recipe, length=min(options.length, recipe.steps))
    taught = _kept(
        name, replace(longer, scenes=options.times * recipe.scenes if name == "scenes" else recipe.scenes), options
    )
    return taught, _kept(f"{name}, held out", replace(longer, scenes=max(1, recipe.scenes // 10)), options)


def _kept(name: str, recipe: Teach, options: Rivals) -> Lessons:
    if options.lessons_at is None:
        return _made(name, recipe, options.seed)
    file = options.lessons_at / f"{name}.npz"
    if not file.is_file():
        options.lessons_at.mkdir(parents=True, exist_ok=True)
        np.savez(file, *jax.tree.leaves(_made(name, recipe, options.seed)))
    with np.load(file, allow_pickle=False) as stored:
        arrays = [stored[f"arr_{k}"] for k in range(len(stored.files))]
    scene, motion = len(Scene._fields), len(Motion._fields)
    return Lessons(Scene(*arrays[:scene]), Motion(*arrays[scene : scene + motion]), *arrays[scene + motion :])


def _made(name: str, recipe: Teach, seed: int) -> Lessons:
    console.print(f"{name}: {recipe.scenes} in Box2D")
    with jax.default_device(jax.devices("cpu")[0]):  # many small things, which a GPU is slow at
        return lessons(recipe, generator_for(seed, "rivals' lessons", name))


if __name__ == "__main__":
    main()
