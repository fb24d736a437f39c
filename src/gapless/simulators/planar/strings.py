"""Strings that pull bodies towards places beyond the edge, each with a force that is known."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError

from .scene import Motion, Scene

BEYOND_M = 1.0
"""How far outside everything a string is pulled from."""
TYPICAL_KG_M2 = 9.0
"""Mass over the square of the radius around an outline, of bodies as they are drawn: how strong a pull is worth while."""


@dataclass(frozen=True)
class Strings:
    """Which strings are tied."""

    share: float = 0.5
    """Of the free bodies; one at least."""
    acceleration: tuple[float, float] = (4.0, 12.0)
    """Weakest and strongest pull, as what it does to a typical body of that outline, m/s²."""

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1 or not 0 <= self.acceleration[0] <= self.acceleration[1]:
            raise GaplessError(
                f"strings need a share of 0 to 1 and a weakest pull below the strongest (found {self.share}, "
                f"{self.acceleration})."
            )


class Tied(NamedTuple):
    """Where each body is pulled to, and how strongly."""

    anchor: Float[np.ndarray, "body 2"]
    newton: Float[np.ndarray, " body"]
    """0 without a string."""

    def force(self, position: Float[np.ndarray, "body 2"]) -> Float[np.ndarray, "body 2"]:
        """In N, on each body where it is now."""
        towards = self.anchor - position
        length = np.maximum(np.linalg.norm(towards, axis=-1, keepdims=True), 1e-6)
        return (self.newton[:, None] * towards / length).astype(np.float32)


def tie(recipe: Strings, scene: Scene, motion: Motion, rng: np.random.Generator) -> Tied:
    """Strings on some of the free bodies; how strong they are does not depend on what bodies are made of."""
    free = np.asarray(scene.free)
    tied = free & (rng.uniform(size=len(free)) < recipe.share)
    tied[rng.choice(np.flatnonzero(free))] = True
    reach = reach_of(scene)
    pull = rng.uniform(*recipe.acceleration, len(free)) * TYPICAL_KG_M2 * reach**2
    places = np.asarray(motion.position)[free]
    middle, around = places.mean(0), np.ptp(places, axis=0).max() / 2 + 2 * reach.max() + BEYOND_M
    angle = rng.uniform(0, 2 * np.pi, len(free))
    anchor = middle + around * np.stack([np.cos(angle), np.sin(angle)], 1)
    return Tied(anchor, np.where(tied, pull, 0.0))


def reach_of(scene: Scene) -> Float[np.ndarray, " body"]:
    """Radius of the circle around each body, in m."""
    corners = np.linalg.norm(np.asarray(scene.corners), axis=-1).max(-1) + np.asarray(scene.radius)
    reach = np.zeros(len(np.asarray(scene.free)))
    there = np.asarray(scene.count) > 0
    np.maximum.at(reach, np.asarray(scene.owner)[there], corners[there])
    return reach
