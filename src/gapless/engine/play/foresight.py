"""What happens to a scene that is left alone, in Box2D and as each member of an ensemble foresees it."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gapless.simulators.planar.clone import Clone, at, no_push, unroll
from gapless.simulators.planar.scene import Motion, Scene
from gapless.simulators.planar.teacher import Box2DWorld


def happening(scene: Scene, motion: Motion, steps: int, dt_s: float) -> Motion:
    """Box2D's motion after each step, the beginning first."""
    world = Box2DWorld(scene, motion)
    told = [motion, *(world.step(dt_s) for _ in range(steps))]
    return jax.tree.map(lambda *each: np.stack(each), *told)


def foresight(members: Sequence[Clone], scene: Scene, motion: Motion, steps: int, dt_s: float) -> Motion:
    """Each member's motion after each step, the beginning first: member, step, body."""
    scene, begun = jax.tree.map(jnp.asarray, scene), at(scene, motion)
    pushes = jax.tree.map(lambda x: jnp.broadcast_to(x, (steps, *x.shape)), no_push(scene))
    go = eqx.filter_jit(lambda clone: unroll(clone, scene, begun, pushes, dt_s)[1])
    told = [jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), begun.motion, go(each)) for each in members]
    return jax.tree.map(lambda *each: jnp.stack(each), *told)
