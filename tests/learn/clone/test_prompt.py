"""Scenes small enough to know by heart: one box, one floor, and a clone with Box2D's own law."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, belief_from_dict
from gapless.learn.clone.frames_file import read_frames, save_frames
from gapless.learn.clone.lessons_of_matter import Watching, watched
from gapless.learn.clone.observed import Observed, until, watch
from gapless.learn.clone.prior import Matter, given_of, prior
from gapless.learn.clone.prompt import belief, names_of, placed, prompt
from gapless.learn.clone.refine import Refining
from gapless.learn.clone.stored_prompter import load_prompter, save_prompter, untaught
from gapless.simulators.planar import matter
from gapless.simulators.planar.scene import CORNERS, Motion, Scene
from gapless.simulators.planar.scenes import Scenes, draw
from gapless.simulators.planar.strings import Strings, Tied, tie

MASS, FRICTION, RESTITUTION = (matter.NAMED.index(n) for n in ("mass", "friction", "restitution"))
PROMPTER, RECIPE = untaught(jax.random.key(0)), Refining(rounds=6, steps=12)


def _scene(friction: float, height: float, speed: float, pull: float) -> tuple[Scene, Observed]:
    """A box of 2 kg above or on a floor, thrown sideways and pulled; 12 steps of it."""
    corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float32)
    corners = np.zeros((2, CORNERS, 2), np.float32)
    corners[0, :4], corners[1, :4] = 0.2 * corner, np.array([5.0, 0.5]) * corner
    z = matter.embedding(
        mass=jnp.array([2.0, 1.0]), friction=jnp.array([friction, 0.4]), restitution=jnp.array([0.0, 0.0])
    )
    scene = Scene(
        *(jnp.asarray(x) for x in (corners, np.array([4, 4]), np.zeros(2, np.float32), np.array([0, 1]), z)),
        jnp.array([True, False]), jnp.array([0.0, -9.81]), jnp.float32(0.0),
    )  # fmt: skip
    rows = np.array([[0, 0.7 + 0.015 + height, 0, speed, 0, 0], [0, 0, 0, 0, 0, 0]], np.float32)
    motion = Motion(rows[:, :2], rows[:, 2], rows[:, 3:5], rows[:, 5])  # pyright: ignore[reportArgumentType]
    tied = Tied(np.array([[100.0, 0.7], [0, 0]]), np.array([pull, 0.0]))
    return scene, watch(scene, motion, tied, 12)


@pytest.fixture(scope="module")
def sliding():
    # It falls first: on the floor alone, a lighter box would slide as one with less friction.
    return _scene(friction=0.3, height=0.03, speed=2.0, pull=4.0)


@pytest.fixture(scope="module")
def clone(make_members):
    return make_members(1)[0]


@pytest.fixture(scope="module")
def found(sliding, clone):
    scene, observed = sliding
    return prompt(PROMPTER, clone, scene, observed, given_of(scene), RECIPE)


@pytest.mark.slow
def test_friction_and_mass_of_a_sliding_box_are_found(found):
    off = np.asarray(found.refined.mean[0]) - np.asarray(matter.embedding(mass=2.0, friction=0.3))
    assert abs(off[MASS]) < 0.03 and abs(off[FRICTION]) < 0.05
    own = np.sqrt(np.diag(found.refined.covariance)).reshape(2, -1)[0]
    assert own[FRICTION] < 0.2 * float(found.prior.deviation[0, FRICTION])


@pytest.mark.parametrize("way", ["encoded", "refined"])
def test_before_the_first_contact_friction_is_exactly_the_prior(way, clone):
    scene, observed = _scene(friction=0.3, height=3.0, speed=2.0, pull=4.0)
    found = prompt(PROMPTER, clone, scene, observed, given_of(scene), RECIPE)
    own = {
        "encoded": np.asarray(found.encoded.deviation),
        "refined": np.sqrt(np.diag(found.refined.covariance)).reshape(2, -1),
    }
    for k in (FRICTION, RESTITUTION):
        assert getattr(found, way).mean[0, k] == found.prior.mean[0, k]
        assert own[way][0, k] == np.sqrt(found.prior.deviation[0, k] ** 2)
    assert abs(float(found.refined.mean[0, MASS]) - np.log(2.0)) < 0.02  # it is pulled: motion tells its mass


def test_without_a_known_force_mass_stays_unknown(clone):
    scene, observed = _scene(friction=0.3, height=0.0, speed=2.0, pull=0.0)
    found = prompt(PROMPTER, clone, scene, observed, given_of(scene), RECIPE)
    own = np.sqrt(np.diag(found.refined.covariance)).reshape(2, -1)[0]
    assert own[MASS] > 0.95 * float(found.prior.deviation[0, MASS])
    assert abs(float(found.refined.mean[0, FRICTION]) - np.log(0.3 / 0.4)) < 0.05


def test_a_box_that_sticks_tells_a_bound_and_no_more(clone):
    scene, observed = _scene(friction=0.8, height=0.0, speed=0.0, pull=4.0)
    found = prompt(PROMPTER, clone, scene, observed, given_of(scene), RECIPE)
    own = float(np.sqrt(np.diag(found.refined.covariance)).reshape(2, -1)[0, FRICTION])
    assert own > 0.3 * float(found.prior.deviation[0, FRICTION])
    assert abs(float(found.refined.mean[0, FRICTION]) - np.log(2.0)) < 2 * own


@pytest.mark.slow
def test_what_is_not_given_is_never_looked_at(sliding, found, clone):
    scene, observed = sliding
    given = given_of(scene)
    other = scene._replace(z=jnp.where(given | (jnp.arange(6) == 5), scene.z, 0.7))
    again = prompt(PROMPTER, clone, other, observed, given, RECIPE)
    assert eqx.tree_equal(again, found)


def test_what_is_given_is_fixed_and_not_believed(sliding, clone):
    scene, observed = sliding
    found = prompt(PROMPTER, clone, scene, observed, given_of(scene, {0: ("mass",)}), RECIPE)
    assert found.refined.mean[0, MASS] == scene.z[0, MASS]
    assert "body0.mass" not in belief(scene, found).names
    assert "body0.friction" in belief(scene, found).names
    with pytest.raises(GaplessError, match="has no property 'colour'"):
        given_of(scene, {0: ("colour",)})


@pytest.mark.slow
def test_belief_is_stored_read_back_and_put_into_scenes(sliding, found):
    scene, _ = sliding
    believed = belief(scene, found)
    again = belief_from_dict(believed.to_dict())
    drawn = again.sample(jax.random.key(0), 64)
    assert np.isfinite(again.log_prob(drawn)).all()
    assert float(jnp.median(drawn["body0.mass"])) == pytest.approx(2.0, rel=0.05)
    worlds = jax.vmap(lambda params: placed(scene, params).z)(drawn)
    np.testing.assert_allclose(matter.named(worlds[:, 0], "friction"), drawn["body0.friction"], rtol=1e-5)
    np.testing.assert_array_equal(worlds[:, 1], jnp.broadcast_to(scene.z[1], worlds[:, 1].shape))


def test_frames_are_read_back_and_bad_files_cost_one_sentence(sliding, tmp_path):
    scene, observed = sliding
    path = tmp_path / "frames.npz"
    save_frames(path, scene, until(observed, 7), given_of(scene))
    read, seen, given = read_frames(path)
    np.testing.assert_array_equal(seen.motion.velocity, observed.motion.velocity[:8])
    np.testing.assert_array_equal(given, given_of(scene))
    assert read.z[0, FRICTION] == 0 and read.z[1, FRICTION] == scene.z[1, FRICTION]
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, "force": arrays["force"][:3]})
    with pytest.raises(GaplessError, match=r"'torque' of .* has shape"):
        read_frames(path)
    np.savez(path, **{k: v for k, v in arrays.items() if k != "spin"})
    with pytest.raises(GaplessError, match="no array 'spin'"):
        read_frames(path)


def test_prior_is_that_of_random_scenes():
    rng = np.random.default_rng(0)
    off = []
    for _ in range(150):
        scene, _ = draw(Scenes(bodies=(6, 6), walls=False, kind="table"), rng)
        believed: Matter = jax.tree.map(np.asarray, prior(scene, jnp.zeros(scene.z.shape, bool)))
        off.append(((scene.z - believed.mean) / np.where(believed.deviation > 0, believed.deviation, 1.0))[:, :5])
    off = np.concatenate(off)
    np.testing.assert_allclose(off.mean(0), 0.0, atol=0.12)
    np.testing.assert_allclose(off.std(0), 1.0, atol=0.12)


def test_strings_pull_towards_their_anchor_whatever_bodies_weigh():
    rng = np.random.default_rng(1)
    scene, motion = draw(Scenes(kind="table", bodies=(3, 3)), rng)
    tied = tie(Strings(share=1.0), scene, motion, np.random.default_rng(2))
    force = tied.force(np.asarray(motion.position))
    towards = tied.anchor - np.asarray(motion.position)
    free = np.asarray(scene.free)
    np.testing.assert_allclose(np.linalg.norm(force[free], axis=1), tied.newton[free], rtol=1e-5)
    assert (np.sum(force * towards, 1)[free] > 0).all() and not force[~free].any()
    heavier = scene._replace(z=scene.z + 1.0)
    np.testing.assert_array_equal(
        tie(Strings(share=1.0), heavier, motion, np.random.default_rng(2)).newton, tied.newton
    )


def test_same_seed_same_scene():
    first, second = (watched(Watching(bodies=(1, 2), steps=3), "fall", 4, "here") for _ in range(2))
    assert eqx.tree_equal(first, second)


def test_prompter_is_read_back(tmp_path):
    save_prompter(tmp_path, PROMPTER)
    assert eqx.tree_equal(load_prompter(tmp_path), PROMPTER)


def test_parts_of_one_body_have_names_of_their_own(sliding):
    scene, _ = sliding
    assert names_of(scene)[0][0] == "body0.mass"
    assert names_of(scene._replace(owner=jnp.array([0, 0])))[1][0] == "body0.part1.mass"
