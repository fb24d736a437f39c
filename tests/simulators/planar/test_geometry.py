"""Contacts worked out by hand, and those that Box2D finds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.simulators.planar.contacts import find
from gapless.simulators.planar.matter import embedding
from gapless.simulators.planar.scene import Motion, Scene
from gapless.simulators.planar.scenes import Scenes, draw

found_by = jax.jit(find)
BOX = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def two(kinds: tuple[str, str], second: tuple[float, float], angle: float = 0.0) -> tuple[Scene, Motion]:
    """Two bodies of radius or half width 0.5: the first at the origin."""
    corners = np.zeros((2, 8, 2), np.float32)
    for k, kind in enumerate(kinds):
        corners[k, :4] = BOX if kind == "box" else 0.0
    count = np.array([4 if kind == "box" else 1 for kind in kinds], np.int32)
    radius = np.array([0.0 if kind == "box" else 0.5 for kind in kinds], np.float32)
    scene = Scene(
        corners, count, radius, np.arange(2, dtype=np.int32), np.asarray(embedding(mass=np.ones(2))), np.ones(2, bool),
        np.zeros(2, np.float32), np.float32(0.0),
    )  # fmt: skip  # pyright: ignore[reportArgumentType]
    zero = np.zeros(2, np.float32)
    motion = Motion(
        np.array([[0, 0], second], np.float32), np.array([0, angle], np.float32), np.zeros((2, 2), np.float32), zero
    )
    return scene, motion  # pyright: ignore[reportArgumentType]


def test_two_circles_touch_halfway_between_their_surfaces() -> None:
    found = found_by(*two(("circle", "circle"), (0.0, 0.9)))
    assert np.asarray(found.touching).tolist() == [True, False]
    np.testing.assert_allclose(found.separation[0], -0.1, atol=1e-6)
    np.testing.assert_allclose(found.normal[0], [0, 1], atol=1e-6)
    np.testing.assert_allclose(found.arm[0], [[0, 0.45], [0, -0.45]], atol=1e-6)


def test_a_box_on_a_box_rests_on_two_corners() -> None:
    found = found_by(*two(("box", "box"), (0.2, 1.0)))
    assert np.asarray(found.touching).all()
    # Skins of 1 cm each: boxes that just touch overlap by 2 cm.
    np.testing.assert_allclose(found.separation, [-0.02, -0.02], atol=1e-6)
    assert sorted(np.asarray(found.arm)[:, 0, 0].round(5)) == pytest.approx([-0.3, 0.5], abs=0.021)


@pytest.mark.parametrize(("first", "sign"), [("box", 1.0), ("circle", -1.0)])
def test_a_circle_meets_the_corner_of_a_box(first: str, sign: float) -> None:
    """0.5 √2 and a little from the corner's direction: the normal is diagonal, whoever comes first."""
    away = 0.5 + 0.5 / np.sqrt(2) - 0.02
    kinds = ("box", "circle") if first == "box" else ("circle", "box")
    found = found_by(*two(kinds, (sign * away, sign * away)))
    k = int(np.argmax(np.asarray(found.touching)))
    np.testing.assert_allclose(found.normal[k], sign * np.array([1, 1]) / np.sqrt(2), atol=1e-5)
    np.testing.assert_allclose(found.separation[k], -0.02 * np.sqrt(2) - 0.01, atol=1e-5)


def test_bodies_apart_do_not_touch() -> None:
    assert not np.asarray(found_by(*two(("box", "circle"), (0.0, 1.02))).touching).any()
    assert not np.asarray(found_by(*two(("box", "box"), (1.2, 1.2), np.pi / 4)).touching).any()


def test_contacts_are_those_that_box2d_finds() -> None:
    pytest.importorskip("Box2D")
    from gapless.simulators.planar.teacher import Box2DWorld

    rng = np.random.default_rng(5)
    seen = differing = 0
    for _ in range(4):
        scene, motion = draw(Scenes(bodies=(8, 8)), rng)
        world = Box2DWorld(scene, motion)
        for _ in range(12):
            for _ in range(8):
                now = world.step(1 / 60)
            world.world.Step(0.0, 0, 0)  # contacts anew, where bodies are now
            theirs = {
                (c.fixtureA.userData, c.fixtureB.userData): c.manifold.pointCount
                for c in world.world.contacts
                if c.touching
            }
            found = found_by(scene, jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), now))
            mine: dict[tuple[int, int], int] = {}
            for a, b in np.asarray(found.pair)[np.asarray(found.touching)]:
                mine[int(a), int(b)] = mine.get((int(a), int(b)), 0) + 1
            theirs = {tuple(sorted(pair)): n for pair, n in theirs.items()}
            seen += len(theirs)
            differing += sum(mine.get(pair) != n for pair, n in theirs.items()) + len(set(mine) - set(theirs))
    assert seen > 100
    assert differing <= 0.02 * seen  # a corner that just touches, in single precision
