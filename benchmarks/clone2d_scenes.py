"""Scenes that no lesson has shown, as Box2D plays them and as a network does: many at once, frame by frame."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import generator_for
from gapless.simulators.planar.clone import at, no_push, unroll
from gapless.simulators.planar.scene import Motion, Scene
from gapless.simulators.planar.scenes import Scenes, draw
from gapless.simulators.planar.teacher import Box2DWorld

DT_S = 1 / 60
Batch = tuple[Scene, Motion]


def drawn(recipe: Scenes, count: int, seed: int, name: str) -> Batch:
    """Scenes that no lesson has shown, one after the other."""
    rng = generator_for(seed, "clone2d", name)
    found = [draw(recipe, rng) for _ in range(count)]
    return stacked([s for s, _ in found]), stacked([m for _, m in found])


def picked(batch: Any, which: int) -> Any:
    """One scene of many."""
    return jax.tree.map(lambda x: x[which], batch)


def stacked(rows: list[Any]) -> Any:
    return jax.tree.map(lambda *x: np.stack(x), *rows)


def taught(batch: Batch, steps: int) -> Motion:
    """What Box2D does: frames (scene, step, body, …)."""
    count = len(batch[1].angle)
    return stacked([stacked(_course(picked(batch[0], k), picked(batch[1], k), steps)) for k in range(count)])


def _course(scene: Scene, motion: Motion, steps: int) -> list[Motion]:
    world = Box2DWorld(scene, motion)
    return [world.step(DT_S) for _ in range(steps)]


@eqx.filter_jit
def frames(model: Any, scene: Scene, motion: Motion, steps: int) -> Motion:
    """What a network does, left on its device: frames (scene, step, body, …)."""

    def one(scene: Scene, motion: Motion) -> Motion:
        pushes = jax.tree.map(lambda x: jnp.zeros((steps, *x.shape)), no_push(scene))
        return unroll(model, scene, at(scene, motion), pushes, DT_S)[1]

    return jax.vmap(one)(scene, motion)


def rolled(model: Any, batch: Batch, steps: int) -> Motion:
    """The same as arrays of NumPy."""
    scene, motion = jax.tree.map(jnp.asarray, batch)
    return jax.tree.map(np.asarray, frames(model, scene, motion, steps))


def sizes(scene: Scene) -> np.ndarray:
    """Diameters of bodies of one part each."""
    return 2 * (np.linalg.norm(np.asarray(scene.corners), axis=-1).max(-1) + np.asarray(scene.radius))
