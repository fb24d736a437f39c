"""Teach the two plain networks of `clone2d.py` the lessons that the clone is taught, as many of them, and keep their weights.

.venv/bin/python benchmarks/clone2d_rivals.py
"""

import time
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import tyro

from clone2d import RIVALS
from frame import Benchmark, finish
from gapless.core import generator_for, key_for
from gapless.learn.clone import Course, lesson_loss, lessons
from gapless.nets.fitting import FitNetwork, fit_network
from gapless.nets.weights import save_weights
from gapless.simulators.planar.baselines import ObjectTransformer, VertexGraph

KINDS = {"vertices": VertexGraph, "transformer": ObjectTransformer}


@dataclass(frozen=True)
class Rivals(Benchmark):
    """Plain networks on the clone's own lessons."""

    course: Course = field(default_factory=Course)
    """The clone's; its lessons about many bodies are taught."""
    fit: FitNetwork = field(default_factory=lambda: FitNetwork(rate=1e-3, batch=48, steps=400, looks=4, decay=0.0))
    """How they are fitted."""
    seed: int = 0
    """As the clone's."""


def main() -> None:
    options = tyro.cli(Rivals, description=__doc__)
    recipe = options.course.scenes
    taught = jax.tree.map(jnp.asarray, lessons(recipe, generator_for(options.seed, "lessons", "scenes", 0)))
    fewer = replace(recipe, scenes=recipe.scenes // 10)
    held_out = jax.tree.map(jnp.asarray, lessons(fewer, generator_for(options.seed, "held out", "scenes", 0)))
    rows = [row(name, kind, taught, held_out, options) for name, kind in KINDS.items()]
    finish("clone2d_rivals", options, {}, rows, {})


def row(name: str, kind: Any, taught: Any, held_out: Any, options: Rivals) -> dict[str, Any]:
    """One network, taught and kept."""
    fit = replace(options.fit, steps=100, looks=2) if options.quick else options.fit
    began, key = time.perf_counter(), key_for(options.seed, "rival", name)
    found = fit_network(kind(key), lesson_loss, taught, held_out, fit, key)
    if not options.quick:
        RIVALS.mkdir(exist_ok=True)
        save_weights(RIVALS / f"{name}.safetensors", found.module)
    return {
        "model": name,
        "before": float(found.before),
        "held out": float(found.held_out),
        "seconds": time.perf_counter() - began,
    }


if __name__ == "__main__":
    main()
