"""A film of a planar world: truth in white, and a tint as strong as members agree."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.report import shoot_world, world_film
from gapless.report.world_film import frame, framing
from gapless.simulators.planar.raster import View
from gapless.simulators.planar.scene import Motion, Scene
from gapless.simulators.planar.scenes import Scenes, draw

VIEW = View(60, 40, wide_m=6.0)


def still(scene: Scene, *lead: int) -> Motion:
    """Everything far below what is seen, at rest."""
    bodies = scene.free.shape[0]
    return Motion(
        jnp.full((*lead, bodies, 2), -9.0), *(jnp.zeros((*lead, *s)) for s in ((bodies,), (bodies, 2), (bodies,)))
    )


def placed(motion: Motion, *where: int, x: float) -> Motion:
    return motion._replace(position=motion.position.at[(*where, 0)].set(jnp.array([x, 0.0])))


@pytest.fixture(scope="module")
def scene() -> Scene:
    return jax.tree.map(
        jnp.asarray, draw(Scenes(bodies=(1, 1), size_m=(0.6, 0.6), walls=False), np.random.default_rng(3))[0]
    )


def test_truth_is_white_and_members_tint_what_they_foresee_by_their_share(scene: Scene):
    truth = placed(still(scene), x=-1.5)
    futures = placed(placed(still(scene, 2), 0, x=1.5), 1, x=1.5)
    image = np.asarray(frame(scene, truth, futures, VIEW)).astype(int)
    alone, agreed, ground = image[20, 15], image[20, 45], image[2, 30]
    split = np.asarray(frame(scene, truth, placed(still(scene, 2), 0, x=1.5), VIEW)).astype(int)[20, 45]
    assert alone.tolist() == [219, 224, 230]
    assert agreed[2] > 150 > ground[2]
    assert (split - ground).tolist() == pytest.approx((agreed - ground) / 2, abs=2)


def test_view_holds_everything_that_moves_and_has_even_sides(scene: Scene):
    truth = jax.tree.map(lambda *x: jnp.stack(x), *(placed(still(scene), x=x) for x in (-1.0, 2.0)))
    truth = truth._replace(position=truth.position.at[..., 1].set(0.0))
    view = framing(scene, truth)
    assert view.centre == pytest.approx((0.5, 0.0))
    assert 3.2 < view.wide_m < 4.7
    assert view.width % 2 == view.height % 2 == 0


def test_scene_without_bodies_is_not_filmed(scene: Scene):
    nothing = scene._replace(free=jnp.zeros_like(scene.free))
    with pytest.raises(GaplessError, match="nothing in this scene is free"):
        framing(nothing, still(nothing, 1))


def test_film_has_a_frame_for_every_thirtieth_of_a_second(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.setattr(world_film, "WIDTH", 64)
    truth = placed(still(scene, 21), slice(None), x=0.5)
    figures = shoot_world(scene, truth, still(scene, 2, 21), 1 / 60, tmp_path / "world.mp4")
    assert figures == {"frames": 11, "seconds": pytest.approx(11 / 30), "members": 2}
    assert (tmp_path / "world.mp4").read_bytes()[4:8] == b"ftyp"


def test_film_that_cannot_be_written_says_so(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.setattr(world_film, "WIDTH", 64)
    out = tmp_path / "nowhere" / "world.mp4"
    with pytest.raises(GaplessError, match=r"ffmpeg could not write .*nowhere"):
        shoot_world(scene, placed(still(scene, 2), slice(None), x=0.5), still(scene, 1, 2), 1 / 60, out)
