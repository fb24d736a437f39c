"""Gluing and breaking: numbers by hand, what stays the same through a hundred of them, and what cannot be done."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from gapless.simulators.planar import breaking, cutting, matter
from gapless.simulators.planar.breaking import Changed, present
from gapless.simulators.planar.clone import Clone, Moving, at, no_push
from gapless.simulators.planar.scene import CORNERS, Motion, Scene, masses, outlines
from gapless.simulators.planar.scenes import Scenes, draw

merge, split, snap = map(jax.jit, (breaking.merge, breaking.split, cutting.snap))
corners_of = jax.jit(lambda scene, moving: outlines(scene, moving.motion).corners)
SLOTS = 9
"""Everywhere, so that everything is compiled once."""
SQUARE = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2.0


def scene_of(
    shapes: list[np.ndarray | float], rows: list[list[float]], slots: int = SLOTS, **z: float
) -> tuple[Scene, Moving]:
    """Circles (radii) and polygons (corners), each a free body with a row x, y, angle, vx, vy, spin."""
    corners, count, radius = np.zeros((slots, CORNERS, 2)), np.zeros(slots, np.int32), np.zeros(slots)
    owner, state = np.full(slots, -1, np.int32), np.zeros((slots, 6))
    for k, (shape, row) in enumerate(zip(shapes, rows, strict=True)):
        round_ = isinstance(shape, float)
        outline = np.zeros((1, 2)) if round_ else np.asarray(shape)
        corners[k, : len(outline)], count[k], radius[k], owner[k] = outline, len(outline), shape if round_ else 0.0, k
        state[k] = row
    there = count > 0
    material = np.tile(np.asarray(matter.embedding(**z)), (slots, 1))
    flat = [corners.astype(np.float32), count, radius.astype(np.float32), owner, material.astype(np.float32), there]
    scene = Scene(*map(jnp.asarray, flat), jnp.zeros(2), jnp.zeros(()))
    return scene, at(scene, Motion(state[:, :2], state[:, 2], state[:, 3:5], state[:, 5]))  # pyright: ignore[reportArgumentType]


@jax.jit
def inventory(scene: Scene, moving: Moving) -> tuple[Array, ...]:
    return *masses(scene)[:2], moving.motion.position, moving.motion.velocity, moving.motion.spin


def totals(*listed: Array) -> tuple[np.ndarray, np.ndarray]:
    """Mass, momentum and angular momentum of an inventory, and what they would be if nothing cancelled."""
    kg, inertia, x, v, spin = (np.asarray(a, np.float64) for a in listed)
    each = np.column_stack([kg, kg[:, None] * v, kg * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]), inertia * spin])
    of = lambda rows: np.append(rows[:, :3].sum(0), rows[:, 3:].sum())  # noqa: E731
    size = of(np.abs(each))
    return of(each), np.array([size[0], *[size[1:3].sum()] * 2, size[3]])


def test_two_discs_that_pass_each_other_begin_to_turn_when_glued() -> None:
    half, speed, radius = 0.4, 1.5, 0.3
    scene, moving = scene_of([radius, radius], [[half, 1, 0, 0, speed, 0], [-half, 1, 0, 0, -speed, 0]], mass=2.0)
    glued = merge(scene, moving, 0, 1)
    motion = glued.moving.motion
    assert bool(glued.done)
    assert np.asarray(present(glued.scene)).tolist() == [True] + [False] * (SLOTS - 1)
    assert np.allclose(motion.position[0], [0, 1], atol=1e-6)
    assert np.allclose(motion.velocity[0], 0, atol=1e-6)
    assert float(motion.spin[0]) == pytest.approx(half * speed / (radius**2 / 2 + half**2), rel=1e-5)


def test_a_part_that_breaks_off_leaves_with_the_speed_of_its_place() -> None:
    scene, moving = scene_of([0.3, 0.3], [[0.4, 0, 0, 1, 2, 0], [-0.4, 0, 0, 1, 2, 0]])
    scene, moving, _ = merge(scene, moving, 0, 1)
    moving = moving._replace(motion=moving.motion._replace(spin=moving.motion.spin.at[0].set(5.0)))
    broken = split(scene, moving, 0, jnp.arange(SLOTS) == 1)
    motion = broken.moving.motion
    assert bool(broken.done)
    assert bool(broken.scene.free[1])
    assert np.allclose(motion.velocity[:2], [[1, 2 + 5 * 0.4], [1, 2 - 5 * 0.4]], atol=1e-5)
    assert np.allclose(motion.spin[:2], 5.0, atol=1e-5)
    assert np.allclose(motion.position[:2], [[0.4, 0], [-0.4, 0]], atol=1e-6)


def test_gluing_and_breaking_leave_every_corner_where_it_is() -> None:
    scene, moving = scene_of([SQUARE, SQUARE], [[0, 0, 0.7, 1, 0, 0], [1.5, 0.3, -0.4, 0, 1, 2]], size=1.3)
    before = np.asarray(corners_of(scene, moving))
    scene, moving, _ = merge(scene, moving, 0, 1)
    assert np.allclose(corners_of(scene, moving)[:2], before[:2], atol=1e-6)
    scene, moving, _ = split(scene, moving, 0, jnp.arange(SLOTS) == 0)
    assert np.allclose(corners_of(scene, moving)[:2], before[:2], atol=1e-6)


def test_half_a_square_weighs_half_and_both_halves_are_the_square() -> None:
    scene, moving = scene_of([SQUARE], [[2, 0, np.pi / 2, 0, 0, 3]], mass=4.0)
    broken = snap(scene, moving, 0, jnp.array([2.0, 0.1]), jnp.array([1.0, 0.0]))
    assert bool(broken.done)
    assert np.allclose(masses(broken.scene).kg[:2], [1.6, 2.4], atol=1e-5)
    corners = np.asarray(corners_of(*broken[:2]))
    assert np.allclose(sorted(map(tuple, corners[0, :4].round(5))), [(1.5, 0.1), (1.5, 0.5), (2.5, 0.1), (2.5, 0.5)])
    assert np.allclose(broken.moving.motion.position[:2], [[2, 0.3], [2, -0.2]], atol=1e-5)
    assert np.allclose(broken.moving.motion.velocity[:2], [[-0.9, 0], [0.6, 0]], atol=1e-5)


def test_matter_denser_inside_keeps_its_angular_momentum_when_cut() -> None:
    scene, moving = scene_of([SQUARE], [[2, 0, 0, 1, 0, 3]], inertia=0.6)
    halves = snap(scene, moving, 0, jnp.array([2.0, 0.0]), jnp.array([1.0, 1.0]))
    assert np.asarray(halves.scene.owner[:3]).tolist() == [0, 1, -1]
    assert np.allclose(totals(*inventory(*halves[:2]))[0], totals(*inventory(scene, moving))[0], rtol=1e-6)


@pytest.mark.parametrize(
    ("why", "shape", "point"),
    [
        ("it is round", 0.5, [0.0, 0.0]),
        ("the line misses it", SQUARE, [0.0, 0.6]),
        ("a splinter", SQUARE, [0.0, 0.499]),
    ],
)
def test_what_cannot_be_cut_stays_as_it_is(why: str, shape: np.ndarray | float, point: list[float]) -> None:
    scene, moving = scene_of([shape], [[0, 0, 0, 1, 0, 1]])
    left = snap(scene, moving, 0, jnp.array(point), jnp.array([1.0, 0.0]))
    assert_unchanged(left, scene, moving)


def test_without_an_empty_slot_nothing_breaks() -> None:
    scene, moving = scene_of([SQUARE] * SLOTS, [[2 * k, 0, 0, 1, 0, 1] for k in range(SLOTS)])
    assert_unchanged(snap(scene, moving, 0, jnp.zeros(2), jnp.array([1.0, 0.0])), scene, moving)


def test_all_parts_of_a_body_or_none_are_no_breach() -> None:
    scene, moving = scene_of([0.3, 0.3], [[0.4, 0, 0, 1, 2, 0], [-0.4, 0, 0, 1, 2, 0]])
    for parts in (jnp.ones(SLOTS, bool), jnp.arange(SLOTS) == 1):
        assert_unchanged(split(scene, moving, 0, parts), scene, moving)


def test_what_is_glued_to_a_commanded_body_goes_with_it_and_is_free_again_when_it_breaks_off() -> None:
    scene, moving = scene_of([0.2, SQUARE], [[0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 2]])
    scene = scene._replace(free=scene.free.at[0].set(False))
    for a, b in ((0, 1), (1, 0)):
        held = merge(scene, moving, a, b)
        assert np.asarray(held.scene.free).tolist() == [False] * SLOTS
        assert np.allclose(held.moving.motion.position[0], [0, 0])
        assert np.allclose(held.moving.motion.velocity[0], [1, 0])
    loose = split(*held[:2], 0, jnp.arange(SLOTS) == 1)
    assert np.asarray(loose.scene.free).tolist() == [False, True, *[False] * (SLOTS - 2)]
    assert np.allclose(loose.moving.motion.velocity[1], [1, 0])
    assert np.allclose(loose.moving.motion.position[:2], [[0, 0], [1, 0]], atol=1e-6)


@pytest.mark.slow
def test_mass_and_momentum_stay_through_a_hundred_breaches_and_gluings_while_the_scene_goes_on() -> None:
    rng = np.random.default_rng(1)
    scene, motion = draw(Scenes(bodies=(4, 4), slots=SLOTS, walls=False), rng)
    scene = jax.tree.map(jnp.asarray, scene._replace(gravity=np.zeros(2, np.float32)))  # pyright: ignore[reportArgumentType]
    clone = Clone(jax.random.key(0), rounds=4)
    step = jax.jit(lambda scene, moving: clone.step(scene, moving, no_push(scene), 1 / 60))
    moving, lost, seen = at(scene, motion), [], set()
    first, size = totals(*inventory(scene, moving))
    while len(lost) < 100:
        was, _ = totals(*inventory(scene, moving))
        scene, moving, done = random_event(scene, moving, rng)
        if bool(done):
            lost.append((totals(*inventory(scene, moving))[0] - was) / size)
            seen.add(int(np.asarray(present(scene)).sum()))
        moving = step(scene, moving)
    assert np.abs(lost).max() < 1e-6
    assert np.abs(np.sum(lost, 0)).max() < 1e-6
    last, _ = totals(*inventory(scene, moving))
    # Angular momentum only through the events: steps between them part bodies that overlap, which turns a little.
    assert np.abs((last - first) / size)[:3].max() < 1e-6
    assert len(seen) >= 4
    assert np.abs(np.asarray(moving.motion.position)).max() < 50
    assert {f._cache_size() for f in (step, merge, split, snap)} == {1}


def random_event(scene: Scene, moving: Moving, rng: np.random.Generator) -> Changed:
    """Two bodies glued, a body of several parts taken apart, or a part broken through its middle."""
    bodies = np.flatnonzero(np.asarray(present(scene)))
    part = int(rng.choice(np.flatnonzero(np.asarray(scene.count) >= 3)))
    kind = rng.integers(3)
    if kind == 0 and len(bodies) > 1:
        return merge(scene, moving, *map(int, rng.choice(bodies, 2, replace=False)))
    if kind == 1:
        return split(scene, moving, int(scene.owner[part]), jnp.asarray(rng.uniform(size=SLOTS) < 0.5))
    middle = np.asarray(corners_of(scene, moving))[part, : int(scene.count[part])].mean(0)
    return snap(scene, moving, part, jnp.asarray(middle), jnp.asarray(rng.normal(size=2), jnp.float32))


def assert_unchanged(found: Changed, scene: Scene, moving: Moving) -> None:
    assert not bool(found.done)
    same = jax.tree.map(np.array_equal, (found.scene, found.moving), (scene, moving))
    assert all(jax.tree.leaves(same))
