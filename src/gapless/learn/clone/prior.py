"""What is believed about each part before anything is seen: what is given is certain, the rest is as random scenes are."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from gapless.core import GaplessError
from gapless.simulators.planar.matter import NAMED, TYPICAL, WIDTH
from gapless.simulators.planar.scene import Scene

DENSITY, FRICTION, DRAG, INERTIA = (0.5, 4.0), (0.05, 1.0), (0.05, 0.8), (float(np.exp(-0.3)), float(np.exp(0.3)))
"""From which to which values random scenes are drawn, evenly in logarithms."""
BOUNCE = -4.0, 3.2
"""Mean and deviation of the coordinate of restitution: half of the bodies do not bounce, the others return up to 0.8."""


class Matter(NamedTuple):
    """Independent Gaussians over the coordinates of every part."""

    mean: Float[Array, "part embedding"]
    deviation: Float[Array, "part embedding"]
    """0 where a property is known."""


def prior(scene: Scene, given: Bool[Array, "part embedding"]) -> Matter:
    """Coordinates that are given are taken from the scene; what it says of the others is never looked at."""
    # Outlines are known, and with them the size; what else cannot be asked about does not matter and is typical.
    given = given | (jnp.arange(len(NAMED)) == NAMED.index("size"))
    columns = [
        _mass(scene),
        _even(INERTIA, "inertia"),
        _even(FRICTION, "friction"),
        BOUNCE,
        _even(DRAG, "drag"),
        (0.0, 1e-3),
    ]
    parts = scene.count.shape[0]
    mean, deviation = (jnp.stack([jnp.broadcast_to(jnp.asarray(c[k]), (parts,)) for c in columns], -1) for k in (0, 1))
    known = jnp.where(scene.count[:, None] > 0, jnp.asarray(scene.z, jnp.float32), 0.0)
    return Matter(jnp.where(given, known, mean), jnp.where(given | ~askable(scene), 0.0, deviation))


def askable(scene: Scene) -> Bool[Array, "part embedding"]:
    """What can be asked about: nobody weighs walls, and outlines are known, with them the size."""
    there = jnp.asarray(scene.count) > 0
    free = there & jnp.asarray(scene.free)[scene.owner]
    asked = {"mass": free, "inertia": free, "friction": there, "restitution": there, "drag": free & (scene.table > 0)}
    return jnp.stack([asked.get(name, jnp.zeros_like(there)) for name in NAMED], -1)


def given_of(
    scene: Scene, properties: dict[int, tuple[str, ...]] | None = None, walls: bool = True
) -> Bool[Array, "part embedding"]:
    """Which coordinates are known: those named for a body, and with `walls` all of bodies that are not free."""
    owner, free = np.asarray(scene.owner), np.asarray(scene.free)
    given = np.zeros((len(owner), WIDTH), bool)
    if walls:
        given |= ~free[owner][:, None]
    for body, names in (properties or {}).items():
        for name in names:
            if name not in NAMED or not 0 <= body < len(free):
                raise GaplessError(
                    f"body {body} has no property {name!r}. Bodies are 0 to {len(free) - 1}, properties {', '.join(NAMED)}."
                )
            given[owner == body, NAMED.index(name)] = True
    return jnp.asarray(given)


def _mass(scene: Scene) -> tuple[Array, float]:
    """Random bodies weigh as a disc of twice the density would that is as large as the circle around them."""
    real = (jnp.arange(scene.corners.shape[1]) < scene.count[:, None])[..., None]
    middle = jnp.sum(jnp.where(real, scene.corners, 0.0), 1, keepdims=True) / jnp.maximum(scene.count, 1)[:, None, None]
    far = jnp.max(jnp.where(real[..., 0], jnp.sqrt(jnp.sum((scene.corners - middle) ** 2, -1)), 0.0), -1)
    density, spread = _even(DENSITY)
    return jnp.log(2 * jnp.pi * jnp.maximum(far + scene.radius, 1e-3) ** 2) + density, spread


def _even(between: tuple[float, float], name: str = "mass") -> tuple[float, float]:
    """Mean and deviation of the coordinate of a property whose logarithm is drawn evenly."""
    low, high = np.log(between)
    return float((low + high) / 2 - np.log(TYPICAL[name])), float((high - low) / np.sqrt(12))
