"""Where a model's geoms may touch: gaps between them and the vectors that lead across, by forward kinematics."""

from collections.abc import Callable
from typing import NamedTuple

import mujoco
import numpy as np
from jaxtyping import Array, Float
from mujoco import mjtGeom

from . import folding as f

PLANE, SPHERE = int(mjtGeom.mjGEOM_PLANE), int(mjtGeom.mjGEOM_SPHERE)
CAPSULE, BOX = int(mjtGeom.mjGEOM_CAPSULE), int(mjtGeom.mjGEOM_BOX)


class Touch(NamedTuple):
    """A pair that may touch, or one corner of it."""

    gap: f.Scalar
    """Distance between the surfaces in m, negative where they overlap."""
    apart: f.Vector
    """From one to the other, in the world's axes."""
    turns: bool
    """Whether the direction across can change, as it cannot above a fixed plane."""


Frames = dict[int, tuple[f.Vector, f.Matrix]]
"""Place and orientation of each body."""


def touches(model: mujoco.MjModel) -> Callable[[Float[Array, "world joint"]], list[Touch]]:
    """A function from positions to every pair of geoms that may touch."""
    pairs = _pairs(model)

    def found(position: Float[Array, "world joint"]) -> list[Touch]:
        frames = _frames(model, position)
        return [touch for a, b in pairs for touch in _between(model, frames, a, b)]

    return found


def _pairs(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Geoms that MuJoCo would collide, a plane first."""
    every = [(a, b) for a in range(model.ngeom) for b in range(a + 1, model.ngeom)]
    return [(b, a) if model.geom_type[b] == PLANE else (a, b) for a, b in every if _collide(model, a, b)]


def _collide(model: mujoco.MjModel, a: int, b: int) -> bool:
    """Whether their bits meet, and their bodies are neither one nor parent and child; the world is nobody's parent."""
    meets = model.geom_contype[a] & model.geom_conaffinity[b] or model.geom_contype[b] & model.geom_conaffinity[a]
    one, other = (int(model.body_weldid[model.geom_bodyid[g]]) for g in (a, b))
    above = [int(model.body_weldid[model.body_parentid[body]]) for body in (one, other)]
    related = 0 not in (one, other) and (one == above[1] or other == above[0])
    return bool(meets) and one != other and not related


def _frames(model: mujoco.MjModel, position: Float[Array, "world joint"]) -> Frames:
    frames: Frames = {0: ((0.0, 0.0, 0.0), f.UNTURNED)}
    for body in range(1, model.nbody):
        place, turned = frames[int(model.body_parentid[body])]
        place = f.add(place, f.turn(turned, f.plain(model.body_pos[body])))
        turned = f.compose(turned, _matrix(model.body_quat[body]))
        first = int(model.body_jntadr[body])
        for joint in range(first, first + int(model.body_jntnum[body])):
            place, turned = _moved(model, joint, place, turned, position)
        frames[body] = place, turned
    return frames


def _moved(model: mujoco.MjModel, joint: int, place: f.Vector, turned: f.Matrix, position: Array) -> tuple:
    at, axis = f.plain(model.jnt_pos[joint]), f.plain(model.jnt_axis[joint])
    column = int(model.jnt_qposadr[joint])
    by = position[:, column] - float(model.qpos0[column])
    if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
        return f.add(place, f.stretch(f.turn(turned, axis), by)), turned
    anchor = f.add(place, f.turn(turned, at))
    turned = f.compose(turned, f.about(axis, by))
    return f.less(anchor, f.turn(turned, at)), turned


def _between(model: mujoco.MjModel, frames: Frames, a: int, b: int) -> list[Touch]:
    if model.geom_type[a] == PLANE:
        place, turned = _geom(model, frames, a)
        normal = f.turn(turned, (0.0, 0.0, 1.0))
        steady = all(f.fixed(x) for x in normal)
        return [_above(place, normal, steady, corner, radius) for corner, radius in _corners(model, frames, b)]
    here, there = (_nearest(model, frames, *pair) for pair in ((a, b), (b, a)))
    apart = f.less(there, here)
    return [Touch(f.length(apart) - (_radius(model, a) + _radius(model, b)), apart, True)]


def _above(place: f.Vector, normal: f.Vector, steady: bool, corner: f.Vector, radius: float) -> Touch:
    apart = f.less(corner, place)
    return Touch(f.dot(apart, normal) - radius, apart, not steady)


def _corners(model: mujoco.MjModel, frames: Frames, geom: int) -> list[tuple[f.Vector, float]]:
    """Points of a geom that a plane may touch, with the radius around them."""
    place, turned = _geom(model, frames, geom)
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == CAPSULE:
        ends = [(0.0, 0.0, float(s * size[1])) for s in (-1, 1)]
        return [(f.add(place, f.turn(turned, end)), float(size[0])) for end in ends]
    if kind == BOX:
        signs = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
        return [(f.add(place, f.turn(turned, f.plain(s * size))), 0.0) for s in signs]
    return [(place, _radius(model, geom))]


def _nearest(model: mujoco.MjModel, frames: Frames, geom: int, other: int) -> f.Vector:
    """The point of a geom's middle that lies nearest to the other's centre."""
    place, turned = _geom(model, frames, geom)
    if model.geom_type[geom] != CAPSULE:
        return place
    axis, half = f.turn(turned, (0.0, 0.0, 1.0)), float(model.geom_size[geom, 1])
    along = f.dot(f.less(_geom(model, frames, other)[0], place), axis)
    return f.add(place, f.stretch(axis, np.clip(along, -half, half) if f.fixed(along) else along.clip(-half, half)))


def _radius(model: mujoco.MjModel, geom: int) -> float:
    """Of a sphere or capsule; for other shapes, of the sphere around them."""
    round_one = int(model.geom_type[geom]) in (SPHERE, CAPSULE)
    return float(model.geom_size[geom, 0] if round_one else model.geom_rbound[geom])


def _geom(model: mujoco.MjModel, frames: Frames, geom: int) -> tuple[f.Vector, f.Matrix]:
    place, turned = frames[int(model.geom_bodyid[geom])]
    at = f.add(place, f.turn(turned, f.plain(model.geom_pos[geom])))
    return at, f.compose(turned, _matrix(model.geom_quat[geom]))


def _matrix(quaternion: np.ndarray) -> f.Matrix:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quaternion)
    return f.plain(flat[:3]), f.plain(flat[3:6]), f.plain(flat[6:])
