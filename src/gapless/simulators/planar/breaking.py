"""Bodies that are glued and break: parts change their owner among slots that were there all along, so nothing is compiled anew.

Mass, momentum and angular momentum are those of the parts and stay what they were. Only where something is glued to a wall or
to a commanded body does that body take up the momentum, as it takes up any push.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .clone import Moving
from .geometry import turned
from .matter import named
from .scene import Mass, Motion, Scene, masses, shape_inertia, sized

Index = Int[Array, ""] | int


class Changed(NamedTuple):
    """A scene after something was glued or broke."""

    scene: Scene
    moving: Moving
    done: Bool[Array, ""]
    """Whether it could be done; if not, everything is as it was."""


def merge(scene: Scene, moving: Moving, a: Index, b: Index) -> Changed:
    """Two bodies become one, in the slot of `a`, or of the one that is not free; not done where neither is."""
    a, b = jnp.where(scene.free[b], a, b), jnp.where(scene.free[b], b, a)
    there = present(scene)
    done = (a != b) & there[a] & there[b] & scene.free[b]
    owner = jnp.where(scene.owner == b, a, scene.owner)
    bodies = jnp.arange(len(scene.free))
    glued = _regrouped(scene, moving, owner, scene.free & (bodies != b), bodies)
    return only_if(done, glued, (scene, moving))


def split(scene: Scene, moving: Moving, body: Index, parts: Bool[Array, " part"]) -> Changed:
    """These parts of a body become a free body of their own, in the first empty slot.

    Not done without such a slot, and where these parts are none of the body's, or all.
    """
    there, mine = present(scene), (scene.owner == body) & (scene.count > 0)
    leaving, slot = mine & parts, jnp.argmin(there)
    done = ~there[slot] & jnp.any(leaving) & jnp.any(mine & ~parts)
    owner = jnp.where(leaving, slot, scene.owner)
    came_from = jnp.arange(len(there)).at[slot].set(body)
    broken = _regrouped(scene, moving, owner, scene.free.at[slot].set(True), came_from)
    return only_if(done, broken, (scene, moving))


def present(scene: Scene) -> Bool[Array, " body"]:
    """Slots that hold a body."""
    return jax.ops.segment_sum((scene.count > 0).astype(int), scene.owner, len(scene.free)) > 0


def only_if(done: Bool[Array, ""], new: tuple[Scene, Moving], old: tuple[Scene, Moving]) -> Changed:
    """The new scene, its books balanced with the old one's; or the old one."""
    scene, moving = new
    balanced = scene, moving._replace(motion=_balanced((old[0], old[1].motion), (scene, moving.motion)))
    scene, moving = jax.tree.map(lambda a, b: jnp.where(done, a, b), balanced, old)
    return Changed(scene, moving, done)


def _regrouped(
    scene: Scene, moving: Moving, owner: Int[Array, " part"], free: Bool[Array, " body"], frame: Int[Array, " body"]
) -> tuple[Scene, Moving]:
    """Parts with other owners, each of which begins in the frame of the body that `frame` names."""
    motion, count = moving.motion, len(free)
    old, new = jnp.maximum(scene.owner, 0), jnp.maximum(owner, 0)
    begins = frame[new]
    kg, spread, centre = _matter(scene)
    add = lambda x: jax.ops.segment_sum(x, owner, count)  # noqa: E731
    total = add(kg)
    changed = _changed(scene.owner, owner, count)

    # Relative to a body nearby, so that single precision suffices.
    arm = turned(centre, motion.angle[old])
    apart = motion.position[old] - motion.position[begins]
    place, speed = (
        apart + arm,
        motion.velocity[old] - motion.velocity[begins] + motion.spin[old][:, None] * _across(arm),
    )
    mean = lambda x: jnp.where(free[:, None], add(kg[:, None] * x) / _not_zero(total)[:, None], 0.0)  # noqa: E731
    middle, drift = mean(place), mean(speed)

    outline, _, _ = sized(scene)
    corners = turned(outline, motion.angle[old][:, None]) + (apart - middle[new])[:, None]
    corners = turned(corners, -motion.angle[begins][:, None]) / named(scene.z, "size")[:, None, None]
    corners = jnp.where(changed[new][:, None, None], corners, scene.corners)
    after = scene._replace(corners=corners, owner=owner, free=free)

    lever, beside = place - middle[new], speed - drift[new]
    turning = add(spread * motion.spin[old] + kg * _cross(lever, beside))
    spin = jnp.where(free, turning / _not_zero(masses(after).inertia), motion.spin[frame])
    moved = Motion(motion.position[frame] + middle, motion.angle[frame], motion.velocity[frame] + drift, spin)
    moved = jax.tree.map(lambda a, b: jnp.where(_wide(changed, a), a, b), moved, motion)
    return after, moving._replace(motion=jax.tree.map(lambda x: jnp.where(_wide(total > 0, x), x, 0.0), moved))


def _balanced(old: tuple[Scene, Motion], new: tuple[Scene, Motion]) -> Motion:
    """The new motion with what rounding made of momentum and angular momentum taken back, where all bodies involved are free."""
    (before, was), (scene, motion) = old, new
    bodies = _changed(before.owner, scene.owner, len(scene.free)) & (present(before) | present(scene))
    free = jnp.all(~bodies | ~present(before) | before.free) & jnp.all(~bodies | ~present(scene) | scene.free)
    counts = jnp.where(bodies & free, 1.0, 0.0)
    here = was.position[jnp.argmax(bodies & present(before))]
    mass = masses(scene)
    books = _momentum(masses(before), was, here, counts)
    off = books - _momentum(mass, motion, here, counts)
    motion = motion._replace(velocity=motion.velocity + counts[:, None] * off[:2] / _not_zero(counts @ mass.kg))
    off = books - _momentum(mass, motion, here, counts)
    return motion._replace(spin=motion.spin + counts * off[2] / _not_zero(counts @ mass.inertia))


def _changed(old: Int[Array, " part"], new: Int[Array, " part"], bodies: int) -> Bool[Array, " body"]:
    """Bodies that gained or lost parts."""
    moves = (old != new).astype(int)
    return (jax.ops.segment_sum(moves, old, bodies) > 0) | (jax.ops.segment_sum(moves, new, bodies) > 0)


def _momentum(mass: Mass, motion: Motion, here: Float[Array, "2"], counts: Float[Array, " body"]) -> Float[Array, "3"]:
    """Momentum of some bodies, and their angular momentum about a place."""
    straight = (counts * mass.kg)[:, None] * motion.velocity
    turning = _cross(motion.position - here, straight) + counts * mass.inertia * motion.spin
    return jnp.append(jnp.sum(straight, 0), jnp.sum(turning))


def _matter(scene: Scene) -> tuple[Float[Array, " part"], Float[Array, " part"], Float[Array, "part 2"]]:
    """Mass of each part, its inertia about its own centre, and that centre in the frame of its body."""
    kg = jnp.where(scene.count > 0, named(scene.z, "mass"), 0.0)
    outline, count, radius = sized(scene)
    # From a corner and not from the body's centre: small parts far out would lose their digits.
    per_kg, centre = jax.vmap(shape_inertia)(outline - outline[:, :1], count, radius)
    return kg, kg * per_kg * named(scene.z, "inertia"), centre + outline[:, 0]


def _across(vector: Float[Array, "*n 2"]) -> Float[Array, "*n 2"]:
    """A quarter turn to the left."""
    return jnp.stack([-vector[..., 1], vector[..., 0]], -1)


def _cross(a: Float[Array, "*n 2"], b: Float[Array, "*n 2"]) -> Float[Array, "*n"]:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _wide(mask: Bool[Array, " body"], like: Array) -> Array:
    return mask.reshape(-1, *[1] * (like.ndim - 1))


def _not_zero(value: Array) -> Array:
    return jnp.where(value > 0, value, 1.0)
