"""What a clone learns from: short stretches of scenes in Box2D, with pushes, strings and steps of many lengths."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float

from gapless.core import GaplessError
from gapless.simulators.planar.scene import Array, Motion, Scene
from gapless.simulators.planar.scenes import Kind, Scenes, draw
from gapless.simulators.planar.teacher import Box2DWorld, Teacher, masses_of

STEPS_S = (1 / 120, 1 / 30)
"""Shortest and longest step."""
PUSHED, STRUNG = 0.3, 0.2
"""Shares of bodies that are pushed now and then, and of scenes in which one hangs on a string."""
STRONGEST = 15.0
"""Largest acceleration by a push, m/s²."""


class Lessons(NamedTuple):
    """Stretches of motion; the first axis is the stretch, `motion` has one frame more than there are steps."""

    scene: Scene
    motion: Motion
    force: Float[Array, "stretch step body 2"]
    dt_s: Float[Array, " stretch"]
    moving: Bool[Array, "stretch body"]
    """Bodies that count: there, and free."""


@dataclass(frozen=True)
class Teach:
    """Make lessons."""

    scenes: int = 400
    """Scenes that Box2D plays."""
    steps: int = 100
    """Steps of each."""
    stretches: int = 10
    """Stretches kept of each."""
    length: int = 3
    """Steps in a stretch."""
    kinds: tuple[Kind, ...] = ("fall", "table")
    """Bodies that fall, and bodies on a table."""
    draw: Scenes = field(default_factory=Scenes)
    """Which scenes."""
    teacher: Teacher = field(default_factory=Teacher)
    """How Box2D is run."""

    def __post_init__(self) -> None:
        if min(self.scenes, self.stretches, self.length) < 1 or self.steps < self.length:
            raise GaplessError("lessons need at least one scene, one stretch and steps enough for it.")


def lessons(recipe: Teach, rng: np.random.Generator, tell: Callable[[int], None] = lambda done: None) -> Lessons:
    """Stretches from random scenes; half of them begin where bodies touch, which they seldom do."""
    found: list[Lessons] = []
    for k in range(recipe.scenes):
        scenes = replace(recipe.draw, kind=recipe.kinds[k % len(recipe.kinds)])
        found.append(_stretches(recipe, *draw(scenes, rng), rng))
        tell(k + 1)
    return _joined(found)


def played(
    scene: Scene, motion: Motion, forces: Float[np.ndarray, "step body 2"], dt_s: float, teacher: Teacher, seed: int = 0
) -> Motion:
    """The frames of one scene in Box2D, the first of them `motion`."""
    world = Box2DWorld(scene, motion, teacher, seed)
    frames = [world.motion(), *(world.step(dt_s, force) for force in forces)]
    return Motion(*(np.stack(rows).astype(np.float32) for rows in zip(*frames, strict=True)))  # pyright: ignore[reportArgumentType]


def pushes(scene: Scene, motion: Motion, steps: int, rng: np.random.Generator) -> Float[np.ndarray, "step body 2"]:
    """Forces on some bodies for some of the time, and a steady pull on one."""
    kg, free = masses_of(scene).kg, np.asarray(scene.free)
    bodies = len(free)
    force = np.zeros((steps, bodies, 2))
    for k in np.flatnonzero(free & (rng.uniform(size=bodies) < PUSHED)):
        begin, lasts = rng.integers(steps), rng.integers(1, 20)
        force[begin : begin + lasts, k] = kg[k] * rng.uniform(0, STRONGEST) * _direction(rng)
    if rng.uniform() < STRUNG:
        k = rng.choice(np.flatnonzero(free))
        force[:, k] += kg[k] * rng.uniform(1, STRONGEST / 2) * _direction(rng)
    return force


def _direction(rng: np.random.Generator) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi)
    return np.array([np.cos(angle), np.sin(angle)])


def _stretches(recipe: Teach, scene: Scene, motion: Motion, rng: np.random.Generator) -> Lessons:
    dt_s = float(np.exp(rng.uniform(*np.log(STEPS_S))))
    force = pushes(scene, motion, recipe.steps, rng)
    frames = played(scene, motion, force, dt_s, recipe.teacher, int(rng.integers(2**31)))
    free = np.asarray(scene.free)
    expected = np.asarray(scene.gravity) * dt_s
    jolts = np.abs(np.diff(frames.velocity, axis=0) - expected)[:, free].max((1, 2))
    last = recipe.steps - recipe.length
    weights = 0.5 / (last + 1) + 0.5 * jolts[: last + 1] / max(jolts[: last + 1].sum(), 1e-9)
    begins = rng.choice(last + 1, recipe.stretches, p=weights / weights.sum())
    rows = begins[:, None] + np.arange(recipe.length + 1)
    many = lambda x: np.broadcast_to(x, (recipe.stretches, *np.shape(x)))  # noqa: E731
    return Lessons(
        Scene(*map(many, scene)), Motion(*(x[rows] for x in frames)), force[rows[:, :-1]].astype(np.float32),
        np.full(recipe.stretches, dt_s, np.float32), many(free),
    )  # fmt: skip  # pyright: ignore[reportArgumentType]


def _joined(found: list[Lessons]) -> Lessons:
    return jax.tree.map(lambda *rows: np.concatenate(rows), *found)
