"""Frames of a scene that somebody watched: how bodies moved, and what pushed them meanwhile."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from gapless.simulators.planar.clone import Push
from gapless.simulators.planar.contacts import find
from gapless.simulators.planar.scene import Motion, Scene
from gapless.simulators.planar.strings import Tied
from gapless.simulators.planar.teacher import Box2DWorld

PERIOD_S = 1 / 60


class Observed(NamedTuple):
    """Frames of one scene; a step leads from each frame to the next."""

    motion: Motion
    """One row more than there are steps."""
    push: Push
    """What is known to have acted during each step."""
    seen: Bool[Array, " step"]
    """False for padding."""
    dt_s: Float[Array, ""]


def watch(scene: Scene, motion: Motion, tied: Tied, steps: int, dt_s: float = PERIOD_S) -> Observed:
    """The teacher's scene, pulled by its strings."""
    world = Box2DWorld(scene, motion)
    frames, forces = [world.motion()], []
    for _ in range(steps):
        forces.append(tied.force(np.asarray(frames[-1].position)))
        frames.append(world.step(dt_s, forces[-1]))
    bodies = len(np.asarray(scene.free))
    push = Push(np.stack(forces), np.zeros((steps, bodies)), np.zeros((steps, bodies, 3)))  # pyright: ignore
    return Observed(
        Motion(*(jnp.asarray(np.stack(rows), jnp.float32) for rows in zip(*frames, strict=True))),
        Push(*(jnp.asarray(rows, jnp.float32) for rows in push)), jnp.ones(steps, bool), jnp.float32(dt_s),
    )  # fmt: skip


def until(observed: Observed, steps: Array | int) -> Observed:
    """Only what was seen during the first steps."""
    return observed._replace(seen=observed.seen & (jnp.arange(len(observed.seen)) < steps))


@jax.jit
def touches(scene: Scene, observed: Observed) -> Bool[Array, "step body"]:
    """Which bodies touched another during each step."""

    def one(motion: Motion, seen: Bool[Array, ""]) -> Bool[Array, " body"]:
        contacts = find(scene, motion)
        none = jnp.zeros(scene.free.shape, bool)
        return none.at[contacts.body].max((contacts.touching & seen)[:, None])

    return jax.vmap(one)(jax.tree.map(lambda x: x[:-1], observed.motion), observed.seen)


def steps_until(touched: Bool[np.ndarray, " step"], count: int) -> int | None:
    """How many steps it takes until one body has touched something during `count` of them."""
    reached = np.flatnonzero(np.cumsum(touched) >= count)
    return int(reached[0]) + 1 if len(reached) else None
