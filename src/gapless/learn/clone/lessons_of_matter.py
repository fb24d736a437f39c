"""Watched scenes to learn prompting from: random matter, random strings, random knowledge."""

from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from gapless.core import generator_for
from gapless.simulators.planar.scene import Scene
from gapless.simulators.planar.scenes import Kind, Scenes, draw
from gapless.simulators.planar.strings import Strings, tie

from .observed import Observed, watch
from .prior import given_of


@dataclass(frozen=True)
class Watching:
    """Which scenes are watched, and for how long."""

    bodies: tuple[int, int] = (1, 4)
    """Fewest and most bodies beside the walls."""
    corners: tuple[int, int] = (3, 6)
    """Fewest and most corners of polygons."""
    steps: int = 96
    """Steps that are watched."""
    strings: Strings = field(default_factory=Strings)
    """How bodies are pulled."""


class Watched(NamedTuple):
    """One scene with its true matter, what was seen of it, and what is known beforehand."""

    scene: Scene
    observed: Observed
    given: Bool[Array, "part embedding"]


def watched(recipe: Watching, kind: Kind, seed: int, *words: str | int) -> Watched:
    """A scene that follows from the seed and the words; its walls are known."""
    rng = generator_for(seed, "watched", kind, *words)
    scene, motion = draw(Scenes(kind=kind, bodies=recipe.bodies, slots=recipe.bodies[1], corners=recipe.corners), rng)
    tied = tie(recipe.strings, scene, motion, rng)
    return Watched(jax.tree.map(jnp.asarray, scene), watch(scene, motion, tied, recipe.steps), given_of(scene))


def stacked(rows: list[Watched]) -> Watched:
    """Scenes side by side, with a leading axis."""
    return jax.tree.map(lambda *x: jnp.stack([jnp.asarray(v) for v in x]), *rows)


def half_known(of: Watched, seed: int) -> Watched:
    """The same scenes with other knowledge in each: single properties are given, walls sometimes are not."""
    rng = np.random.default_rng(seed)
    given = np.asarray(of.given)
    some = rng.uniform(size=given.shape) < 0.15 * (rng.uniform(size=(len(given), 1, 1)) < 0.5)
    walls = rng.uniform(size=(len(given), 1, 1)) < 0.75
    return of._replace(given=jnp.asarray((given & walls) | some))
