"""Random scenes, and Box2D playing them."""

import jax
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.simulators.planar.contacts import find
from gapless.simulators.planar.matter import NAMED, embedding, named
from gapless.simulators.planar.scene import masses
from gapless.simulators.planar.scenes import Scenes, draw, polygon


def test_nothing_touches_at_the_start() -> None:
    rng, found_by = np.random.default_rng(0), jax.jit(find)
    for _ in range(5):
        assert not np.asarray(found_by(*draw(Scenes(bodies=(10, 10)), rng)).touching).any()


def test_the_same_seed_draws_the_same_scene() -> None:
    one, other = (draw(Scenes(), np.random.default_rng(3)) for _ in range(2))
    for a, b in zip(one[0] + one[1], other[0] + other[1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_polygons_are_convex_and_balanced() -> None:
    rng = np.random.default_rng(1)
    for corners in range(3, 9):
        outline = polygon(corners, rng)
        edge = np.roll(outline, -1, 0) - outline
        after = np.roll(edge, -1, 0)
        assert (edge[:, 0] * after[:, 1] > edge[:, 1] * after[:, 0]).all()
        assert np.linalg.norm(outline, axis=1).max() == pytest.approx(1.0)


def test_a_scene_without_bodies_is_refused_in_one_sentence() -> None:
    with pytest.raises(GaplessError, match="at least one body"):
        Scenes(bodies=(0, 3))


def test_properties_are_read_back_as_they_were_given() -> None:
    given = {"mass": 2.0, "inertia": 1.3, "friction": 0.7, "restitution": 0.35, "drag": 0.2, "size": 1.1}
    z = embedding(**given)
    assert {name: float(named(z, name)) for name in NAMED} == pytest.approx(given, rel=1e-5)


def test_a_square_resists_turning_as_a_square_does() -> None:
    """m (a² + b²) / 12 for a box of sides a and b."""
    scene, _ = draw(Scenes(bodies=(1, 1), walls=False), np.random.default_rng(0))
    corners = np.zeros_like(scene.corners)
    corners[0, :4] = np.array([[-0.3, -0.2], [0.3, -0.2], [0.3, 0.2], [-0.3, 0.2]])
    scene = scene._replace(
        corners=corners, count=np.array([4], np.int32), z=np.asarray(embedding(mass=np.array([2.0])))
    )
    mass = masses(scene)
    np.testing.assert_allclose(mass.inertia, 2.0 * (0.6**2 + 0.4**2) / 12, rtol=1e-5)
    np.testing.assert_allclose(mass.kg, 2.0, rtol=1e-6)


def test_the_teacher_remembers_nothing_but_its_state() -> None:
    pytest.importorskip("Box2D")
    from gapless.simulators.planar.teacher import Box2DWorld

    scene, motion = draw(Scenes(bodies=(5, 5)), np.random.default_rng(2))
    world = Box2DWorld(scene, motion)
    for _ in range(60):
        now = world.step(1 / 60)
    fresh = Box2DWorld(scene, now)
    on, again = world.step(1 / 60), fresh.step(1 / 60)
    np.testing.assert_allclose(on.velocity, again.velocity, atol=2e-3)


def test_a_listener_hears_what_holds_a_body_up() -> None:
    """At rest, the impulses of a step carry the weight for as long as the step lasts."""
    pytest.importorskip("Box2D")
    from gapless.simulators.planar.teacher import Box2DWorld, impulses_of

    scene, motion = draw(Scenes(bodies=(1, 1), speed=0.0), np.random.default_rng(4))
    world = Box2DWorld(scene, motion)
    impulses = impulses_of(world)
    for _ in range(400):
        world.step(1 / 60)
    heard = sum(normal.sum() for normal, _ in impulses.values())
    assert heard == pytest.approx(float(masses(scene).kg[0]) * 9.81 / 60, rel=0.02)


def test_a_noisy_teacher_is_noisy_and_repeats_itself() -> None:
    pytest.importorskip("Box2D")
    from gapless.simulators.planar.teacher import Box2DWorld, Teacher

    scene, motion = draw(Scenes(bodies=(4, 4)), np.random.default_rng(5))

    def ends(seed: int) -> np.ndarray:
        world = Box2DWorld(scene, motion, Teacher(scatter=0.5), seed)
        return [world.step(1 / 60) for _ in range(60)][-1].position

    np.testing.assert_array_equal(ends(1), ends(1))
    assert np.abs(ends(1) - ends(2)).max() > 1e-3
