"""Cutting: one convex polygon becomes two along a line, and what is cut off may fly away; a vase breaks."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .breaking import Changed, Index, only_if, split
from .clone import Moving
from .geometry import SKIN_M, SLOP_M
from .matter import NAMED, coordinate, named
from .scene import Scene

SMALLEST_M2 = 4 * SKIN_M**2
"""Area below which a piece is not cut off: it would be all skin, and neither contacts nor Box2D can work with splinters."""


def snap(scene: Scene, moving: Moving, part: Index, point: Float[Array, "2"], along: Float[Array, "2"]) -> Changed:
    """A part breaks along a line in the world: what lies to the right of `along` becomes a body of its own."""
    off = jnp.arange(len(scene.count)) == _empty(scene)
    halves = cut(scene, moving, part, point, along)
    broken = split(halves.scene, halves.moving, scene.owner[part], off)
    done = halves.done & broken.done
    new, old = (broken.scene, broken.moving), (scene, moving)
    scene, moving = jax.tree.map(lambda a, b: jnp.where(done, a, b), new, old)
    return Changed(scene, moving, done)


def cut(scene: Scene, moving: Moving, part: Index, point: Float[Array, "2"], along: Float[Array, "2"]) -> Changed:
    """A part becomes two parts of the same body; the right one goes to the first empty slot.

    Not done for circles, where the line misses it or takes a splinter, without a slot, or where a piece had too many corners.
    """
    slot, body = _empty(scene), scene.owner[part]
    side = _sides(scene, moving, part, point, along)
    outline, count = scene.corners[part], scene.count[part]
    pieces = [_half(outline, count, s * side) for s in (1.0, -1.0)]
    area = jnp.stack([_area(*piece) for piece in pieces]) * named(scene.z[part], "size") ** 2
    share = area / jnp.maximum(jnp.sum(area), 1e-12)
    fits = jnp.stack([(n >= 3) & (n <= len(outline)) for _, n in pieces])
    done = (count >= 3) & (scene.count[slot] == 0) & jnp.all(fits) & jnp.all(area > SMALLEST_M2)

    kg = named(scene.z[part], "mass")
    first = share[0] * kg
    weighs = NAMED.index("mass")
    after = scene._replace(
        corners=scene.corners.at[part].set(pieces[0][0]).at[slot].set(pieces[1][0]),
        count=scene.count.at[part].set(pieces[0][1]).at[slot].set(pieces[1][1]),
        radius=scene.radius.at[slot].set(0.0),
        owner=scene.owner.at[slot].set(body),
        z=scene.z.at[slot].set(scene.z[part].at[weighs].set(coordinate("mass", kg - first)))
        .at[part, weighs].set(coordinate("mass", first)),
    )  # fmt: skip
    # Where matter was denser inside than out, its pieces turn a little faster or slower: angular momentum stays.
    return only_if(done, (after, _forgotten(moving, part, slot)), (scene, moving))


def _empty(scene: Scene) -> Int[Array, ""]:
    """The first slot without a part; if there is none, any."""
    return jnp.argmin(scene.count)


def _sides(
    scene: Scene, moving: Moving, part: Index, point: Float[Array, "2"], along: Float[Array, "2"]
) -> Float[Array, " corner"]:
    """How far each corner lies to the left of the line, in m; those that are on it but for a slop are on it."""
    body, motion = scene.owner[part], moving.motion
    cos, sin = jnp.cos(motion.angle[body]), jnp.sin(motion.angle[body])
    into = jnp.array([[cos, sin], [-sin, cos]])
    start, way = into @ (point - motion.position[body]), into @ along
    off = scene.corners[part] * named(scene.z[part], "size") - start
    side = (way[0] * off[:, 1] - way[1] * off[:, 0]) / jnp.sqrt(jnp.sum(way**2) + 1e-12)
    return jnp.where(jnp.abs(side) < SLOP_M, 0.0, side)


def _half(
    outline: Float[Array, "corner 2"], count: Int[Array, ""], side: Float[Array, " corner"]
) -> tuple[Float[Array, "corner 2"], Int[Array, ""]]:
    """The corners of what lies on the positive side, and how many they are, which may be more than there is room for."""
    slots = jnp.arange(len(outline))
    after = jnp.where(slots + 1 < count, slots + 1, 0)
    real = slots < count
    there, crosses = real & (side >= 0), real & (side * side[after] < 0)
    share = side / jnp.where(crosses, side - side[after], 1.0)
    crossing = outline + share[:, None] * (outline[after] - outline)
    found = jnp.stack([outline, crossing], 1).reshape(-1, 2)
    valid: Bool[Array, " candidate"] = jnp.stack([there, crosses], 1).reshape(-1)
    order = jnp.argsort(~valid, stable=True)[: len(outline)]
    number = jnp.sum(valid)
    return jnp.where((slots < number)[:, None], found[order], 0.0), number.astype(count.dtype)


def _area(outline: Float[Array, "corner 2"], count: Int[Array, ""]) -> Float[Array, ""]:
    slots = jnp.arange(len(outline))
    corner = jnp.where((slots < count)[:, None], outline, outline[:1]) - outline[0]
    after = jnp.roll(corner, -1, axis=0)
    return jnp.sum(corner[:, 0] * after[:, 1] - corner[:, 1] * after[:, 0]) / 2


def _forgotten(moving: Moving, *parts: Index) -> Moving:
    """What contacts of these parts held is no start for the next step."""
    held = moving.held
    for part in parts:
        held = held.at[part].set(0.0).at[:, part].set(0.0)
    return moving._replace(held=held)
