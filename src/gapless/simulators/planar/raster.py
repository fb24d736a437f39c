"""Pictures of scenes: every pixel asks every part how far away it is, so that a batch of states is a batch of images at once."""

from dataclasses import dataclass
from functools import partial, reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import GaplessError

from .geometry import FAR_M, Outline
from .scene import Motion, Scene, outlines


@dataclass(frozen=True)
class View:
    """Which piece of the plane is seen, and with how many pixels; the first row is the top."""

    width: int = 64
    """Pixels from left to right."""
    height: int = 64
    """Pixels from top to bottom."""
    centre: tuple[float, float] = (0.0, 0.0)
    """In the middle of the picture, in m."""
    wide_m: float = 6.0
    """From its left to its right edge, in m."""
    edge_px: float = 1.0
    """Pixels over which an edge fades: 1 is sharp, more lets gradients reach farther."""

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 1 or not (self.wide_m > 0 and self.edge_px > 0):
            raise GaplessError(
                f"a view needs at least one pixel, and a width and an edge above zero (found {self.width} × {self.height} "
                f"pixels, {self.wide_m} m, an edge of {self.edge_px} pixels)."
            )

    @property
    def pixel_m(self) -> float:
        return self.wide_m / self.width

    def grid(self) -> tuple[Float[Array, " width"], Float[Array, " height"]]:
        """Middles of the columns and of the rows, in m."""
        across = (jnp.arange(self.width) + 0.5 - self.width / 2) * self.pixel_m + self.centre[0]
        down = (self.height / 2 - 0.5 - jnp.arange(self.height)) * self.pixel_m + self.centre[1]
        return across, down


class Paint(NamedTuple):
    """Colours between 0 and 1; one channel is grey, three are red, green and blue."""

    ground: Float[Array, " channel"]
    part: Float[Array, "part channel"]


def grey(scene: Scene) -> Paint:
    """Bodies white, what does not move half as bright, on black."""
    moves = scene.free[scene.owner] & (scene.count > 0)
    return Paint(jnp.zeros(1), jnp.where(moves, 1.0, 0.5)[:, None])


@partial(jax.jit, static_argnames="view")
def pictures(scenes: Scene, motions: Motion, paint: Paint, view: View) -> Float[Array, "scene height width channel"]:
    """One image for each scene and state of a batch, all painted alike."""
    return jax.vmap(lambda scene, motion: picture(scene, motion, paint, view))(scenes, motions)


@partial(jax.jit, static_argnames="view")
def picture(scene: Scene, motion: Motion, paint: Paint, view: View) -> Float[Array, "height width channel"]:
    """One image; where parts overlap, later ones cover earlier ones."""
    ground = jnp.broadcast_to(paint.ground, (view.height, view.width, len(paint.ground)))

    def over(below: Array, part: tuple[Outline, Array, Array]) -> tuple[Array, None]:
        outline, there, colour = part
        covered = (there * filled(depth(outline, view), view))[..., None]
        return below + covered * (colour - below), None

    there = (scene.count > 0).astype(jnp.float32)
    return jax.lax.scan(over, ground, (outlines(scene, motion), there, paint.part))[0]


@partial(jax.jit, static_argnames="view")
def coverage(scene: Scene, motion: Motion, view: View) -> Float[Array, "height width"]:
    """How much of each pixel is covered by bodies that are free."""
    return filled(deepest(scene, motion, view), view)


def deepest(scene: Scene, motion: Motion, view: View) -> Float[Array, "height width"]:
    """How far inside any free body each pixel is, in pixels; negative outside of all."""

    def more(below: Array, part: tuple[Outline, Array]) -> tuple[Array, None]:
        outline, there = part
        inside = jnp.where(there, depth(outline, view), -FAR_M)
        return jnp.where(inside > below, inside, below), None

    there = scene.free[scene.owner] & (scene.count > 0)
    return jax.lax.scan(more, jnp.full((view.height, view.width), -FAR_M), (outlines(scene, motion), there))[0]


def depth(outline: Outline, view: View) -> Float[Array, "height width"]:
    """How far inside a part each pixel is, in pixels; negative outside."""
    across, down = view.grid()
    x, y = across[None, :], down[:, None]
    offset = jnp.sum(outline.normals * outline.corners, -1)
    heights = [
        jnp.where(outline.real[k], outline.normals[k, 0] * x + outline.normals[k, 1] * y - offset[k], -FAR_M)
        for k in range(outline.corners.shape[0])
    ]
    # Not jnp.max, whose gradient compares with its own result: compiled, the two may differ in the last bit, and nothing is
    # the largest.
    flat = reduce(lambda a, b: jnp.where(a > b, a, b), heights)
    middle = outline.corners[0]
    far = jnp.sqrt((x - middle[0]) ** 2 + (y - middle[1]) ** 2 + 1e-12)
    return (outline.radius - jnp.where(outline.round, far, flat)) / view.pixel_m


def filled(inside: Float[Array, "height width"], view: View) -> Float[Array, "height width"]:
    """The share of a pixel that is covered, from how far inside its middle is."""
    return jnp.clip(0.5 + inside / view.edge_px, 0.0, 1.0)


def lined(inside: Float[Array, "height width"], view: View, wide_px: float) -> Float[Array, "height width"]:
    """The same for a line along the edge."""
    return filled(wide_px / 2 - jnp.abs(inside), view)
