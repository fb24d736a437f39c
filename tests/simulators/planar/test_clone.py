"""What holds for any weights, and what holds with the right law."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.simulators.planar import matter
from gapless.simulators.planar.clone import Clone, Moving, Push, at, no_push
from gapless.simulators.planar.scene import Motion, Scene, masses
from gapless.simulators.planar.scenes import Scenes, draw

DT_S, STEPS, ROUNDS = 1 / 60, 60, 48
Exact = Callable[[int], Clone]


@eqx.filter_jit
def run(clone: Clone, scene: Scene, moving: Moving, push: Push) -> tuple[Moving, Motion]:
    def body(moving: Moving, _: None) -> tuple[Moving, Motion]:
        moving = clone.step(scene, moving, push, DT_S)
        return moving, moving.motion

    return jax.lax.scan(body, moving, None, STEPS)


def scene_of(seed: int, **recipe: object) -> tuple[Scene, Moving]:
    """Three bodies, and four walls or as much room: one shape, so that all tests share two compiled programs."""
    shared = {"bodies": (3, 3), "slots": 3 if recipe.get("walls", True) else 7}
    scene, motion = draw(Scenes(**shared | recipe), np.random.default_rng(seed))  # pyright: ignore[reportArgumentType]
    scene = jax.tree.map(jnp.asarray, scene)
    return scene, at(scene, motion)


@pytest.mark.slow
def test_momentum_is_kept_by_weights_that_know_nothing() -> None:
    scene, moving = scene_of(0, walls=False, meet=True)
    wild = jax.tree.map(
        lambda x: 3 * x if eqx.is_inexact_array(x) else x, eqx.filter_jit(Clone)(jax.random.key(7), ROUNDS)
    )
    _, course = run(wild, scene, moving, no_push(scene))
    kg, before, after = masses(scene).kg, moving.motion, jax.tree.map(lambda x: x[-1], course)
    assert np.abs(after.velocity - before.velocity).max() > 0.1  # they met
    lost = jnp.linalg.norm(jnp.sum(kg[:, None] * (after.velocity - before.velocity), 0))
    assert float(lost) < 1e-5 * float(jnp.sum(kg * jnp.linalg.norm(before.velocity, axis=-1)))


def test_contacts_never_pull_and_stay_in_their_cone(exact_clone: Exact) -> None:
    scene, moving = scene_of(1)
    moving, _ = run(exact_clone(ROUNDS), scene, moving, no_push(scene))
    held = np.asarray(moving.held)
    assert held[..., 0].max() > 0
    assert held[..., 0].min() >= 0
    friction = np.asarray(matter.named(scene.z, "friction"))
    cone = np.sqrt(friction[:, None] * friction)[..., None]
    assert np.all(np.abs(held[..., 1]) <= cone * held[..., 0] + 1e-6)


def test_a_body_in_free_flight_follows_the_parabola_of_the_integrator(exact_clone: Exact) -> None:
    scene, moving = scene_of(2, bodies=(1, 1), walls=False)
    _, course = run(exact_clone(ROUNDS), scene, moving, no_push(scene))
    k = np.arange(1, STEPS + 1)[:, None]
    drop = np.asarray(scene.gravity) * DT_S**2 * k * (k + 1) / 2
    np.testing.assert_allclose(
        course.position[:, 0], moving.motion.position[0] + moving.motion.velocity[0] * DT_S * k + drop, atol=1e-3
    )


def test_a_known_push_moves_a_body_by_newtons_law(exact_clone: Exact) -> None:
    scene, moving = scene_of(3, bodies=(1, 1), walls=False, meet=True, speed=0.0)
    still = no_push(scene)
    push = still._replace(force=still.force.at[0, 0].set(3.0), torque=still.torque.at[0].set(0.5))
    _, course = run(exact_clone(ROUNDS), scene, moving, push)
    mass = masses(scene)
    np.testing.assert_allclose(course.velocity[0, 0], [3.0 * DT_S / mass.kg[0], 0.0], rtol=1e-5)
    np.testing.assert_allclose(course.spin[0, 0], 0.5 * DT_S / mass.inertia[0], rtol=1e-5)


def test_a_scene_of_numpy_can_stand_in_a_compiled_program(exact_clone: Exact) -> None:
    scene, motion = draw(Scenes(bodies=(2, 2)), np.random.default_rng(0))
    clone, begun = exact_clone(ROUNDS), at(scene, motion)
    after = jax.eval_shape(lambda moving: clone.step(scene, moving, no_push(scene), DT_S), begun)
    assert after.motion.position.shape == begun.motion.position.shape


def test_where_bodies_stand_in_the_list_changes_nothing(exact_clone: Exact) -> None:
    scene, moving = scene_of(4)
    _, course = run(exact_clone(ROUNDS), scene, moving, no_push(scene))
    order = jnp.array([2, 0, 1, 3, 4, 5, 6])
    turned = scene._replace(**{n: getattr(scene, n)[order] for n in ("corners", "count", "radius", "z", "free")})
    other = at(turned, jax.tree.map(lambda x: x[order], moving.motion))
    _, again = run(exact_clone(ROUNDS), turned, other, no_push(scene))
    np.testing.assert_allclose(course.position[:30, order], again.position[:30], atol=1e-3)


@pytest.mark.parametrize("kind", ["fall", "table"])
def test_with_box2ds_law_bodies_go_where_box2d_has_them(kind: str, exact_clone: Exact) -> None:
    pytest.importorskip("Box2D")
    from gapless.simulators.planar.teacher import Box2DWorld

    errors = []
    clone = exact_clone(ROUNDS)
    for seed in range(6):
        scene, moving = scene_of(seed, kind=kind)
        world = Box2DWorld(scene, moving.motion)
        _, course = run(clone, scene, moving, no_push(scene))
        for _ in range(STEPS):
            truth = world.step(DT_S)
        errors += np.linalg.norm(np.asarray(course.position[-1, :3]) - truth.position[:3], axis=1).tolist()
    assert np.median(errors) < 0.01
