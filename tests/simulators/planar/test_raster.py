"""Pictures: areas are true, edges are soft, what covers what, and gradients say which way a body went."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.simulators.planar import matter
from gapless.simulators.planar.geometry import SKIN_M
from gapless.simulators.planar.raster import Paint, View, coverage, deepest, grey, lined, picture, pictures
from gapless.simulators.planar.scene import CORNERS, Motion, Scene
from gapless.simulators.planar.scenes import Scenes, draw

BOX = np.array([[-0.5, -0.3], [0.5, -0.3], [0.5, 0.3], [-0.5, 0.3]])
VIEW = View(96, 64, wide_m=6.0)
"""A pixel is 1/16 m, the picture 6 m by 4 m."""


def scene_of(*shapes: np.ndarray | float) -> Scene:
    """One body per shape, outlines or radii of circles, and one slot of padding."""
    size = len(shapes) + 1
    corners, count, radius = np.zeros((size, CORNERS, 2)), np.zeros(size, int), np.zeros(size)
    for k, shape in enumerate(shapes):
        if isinstance(shape, float):
            count[k], radius[k] = 1, shape
        else:
            outline = np.asarray(shape)
            corners[k, : len(outline)], count[k] = outline, len(outline)
    owner = np.where(count > 0, np.arange(size), -1)
    z = jnp.broadcast_to(matter.embedding(), (size, matter.WIDTH))
    there = jnp.asarray(count > 0)
    return Scene(
        jnp.asarray(corners, jnp.float32), jnp.asarray(count), jnp.asarray(radius, jnp.float32), jnp.asarray(owner), z,
        there, jnp.zeros(2), jnp.zeros(()),
    )  # fmt: skip


def motion_of(*places: tuple[float, float, float] | jax.Array) -> Motion:
    rows = jnp.stack([*(jnp.asarray(place) for place in places), jnp.zeros(3)])
    return Motion(rows[:, :2], rows[:, 2], jnp.zeros_like(rows[:, :2]), jnp.zeros(len(rows)))


def area(image: jax.Array) -> float:
    return float(image.sum()) * VIEW.pixel_m**2


@pytest.mark.parametrize("turned", [0.0, 0.4, 1.3])
def test_box_covers_its_area_however_it_is_turned(turned: float):
    found = area(picture(scene_of(BOX), motion_of((0.31, -0.17, turned)), grey(scene_of(BOX)), VIEW))
    assert found == pytest.approx((1.0 + 2 * SKIN_M) * (0.6 + 2 * SKIN_M), rel=0.01)


def test_circle_covers_its_area():
    found = area(picture(scene_of(0.7), motion_of((0.2, 0.3, 0.0)), grey(scene_of(0.7)), VIEW))
    assert found == pytest.approx(np.pi * 0.49, rel=0.01)


def test_first_row_is_the_top_and_first_column_the_left():
    image = coverage(scene_of(0.4), motion_of((-2.0, 1.5, 0.0)), VIEW)
    rows, columns = np.nonzero(np.asarray(image) > 0.5)
    assert rows.max() < 20 and columns.max() < 30


def test_later_parts_cover_earlier_ones():
    scene = scene_of(0.5, BOX)
    paint = Paint(jnp.zeros(3), jnp.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]))
    image = picture(scene, motion_of((0.0, 0.0, 0.0), (0.4, 0.0, 0.0)), paint, VIEW)
    assert image[32, 48].tolist() == [0, 1, 0]
    assert image[32, 48 - 6].tolist() == [1, 0, 0]
    assert float(image[..., 2].max()) == 0.0  # padding is not painted


def test_batch_is_each_picture_by_itself():
    drawn = [draw(Scenes(bodies=(1, 2)), np.random.default_rng(k)) for k in range(2)]
    scenes, motions = (jax.tree.map(lambda *x: jnp.stack(x), *each) for each in zip(*drawn, strict=True))
    paint = Paint(jnp.zeros(1), jnp.linspace(0.3, 1.0, 6)[:, None])
    batch = pictures(scenes, motions, paint, VIEW)
    assert batch.shape == (2, 64, 96, 1)
    for k, (scene, motion) in enumerate(drawn):
        scene = jax.tree.map(jnp.asarray, scene)
        assert jnp.allclose(batch[k], picture(scene, motion, paint, VIEW), atol=1e-5)


def test_gradients_of_a_soft_picture_lead_a_body_back_to_where_it_was_seen():
    scene, soft = scene_of(BOX), View(48, 32, wide_m=6.0, edge_px=6.0)
    seen = coverage(scene, motion_of((0.4, -0.3, 0.5)), soft)
    wrong = jax.jit(jax.grad(lambda row: jnp.sum((coverage(scene, motion_of(row), soft) - seen) ** 2)))
    row = jnp.array([0.0, 0.0, 0.2])
    for _ in range(150):
        row = row - 0.003 * wrong(row)
    assert row.tolist() == pytest.approx([0.4, -0.3, 0.5], abs=0.02)


def test_gradient_is_finite_where_nothing_is_to_be_seen():
    scene = scene_of(BOX, 0.3)
    grown = jax.grad(lambda at: coverage(scene, motion_of(at, (0.0, 0.0, 0.0)), VIEW).sum())(
        jnp.array([0.1, 50.0, 0.0])
    )
    assert grown.tolist() == [0.0, 0.0, 0.0]


def test_line_runs_along_the_edge_and_leaves_the_middle_empty():
    image = lined(deepest(scene_of(BOX), motion_of((0.0, 0.0, 0.0)), VIEW), VIEW, 1.0)
    assert float(image[32, 48]) == 0.0
    around = 2 * (1.0 + 0.6 + 4 * SKIN_M)
    assert area(image) == pytest.approx(around * VIEW.pixel_m, rel=0.05)


def test_impossible_view_is_refused():
    with pytest.raises(GaplessError, match="at least one pixel"):
        View(0, 64)
