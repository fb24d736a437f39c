"""Fit a clone to lessons: the next frame from the true one before it, what contacts held coming from the clone itself."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.nets.fitting import FitNetwork, Fitted, fit_network
from gapless.simulators.planar.clone import Clone, Moving, Push, at
from gapless.simulators.planar.law import Law
from gapless.simulators.planar.scene import Motion, Scene, masses

from .lessons import Lessons

SPEED, PLACE_M = 0.02, 0.002
"""Errors of speed (m/s) and place beyond which they count in proportion and no longer by their square."""


def fit_clone(begun: Clone, taught: Lessons, held_out: Lessons, recipe: FitNetwork, key: PRNGKeyArray) -> Fitted:
    """The clone that predicts held-out lessons best on the way."""
    return fit_network(begun, lesson_loss, _on_device(taught), _on_device(held_out), recipe, key)


def fit_law(
    begun: Clone, taught: Lessons, held_out: Lessons, recipe: FitNetwork, key: PRNGKeyArray, noisy: bool = False
) -> Fitted:
    """The clone with another law: pairs that meet say what a touch does, and cost little.

    In a noisy world the law also learns by how much touches differ.
    """
    score = scattered_loss if noisy else lesson_loss

    def loss(law: Law, lessons: Lessons, key: PRNGKeyArray) -> Float[Array, ""]:
        return score(eqx.tree_at(lambda c: c.law, begun, law), lessons, key)

    found = fit_network(begun.law, loss, _on_device(taught), _on_device(held_out), recipe, key)
    return found._replace(module=eqx.tree_at(lambda c: c.law, begun, found.module))


def lesson_loss(clone: Clone, lessons: Lessons, key: PRNGKeyArray) -> Float[Array, ""]:
    """Mean error over bodies and steps."""
    return jnp.mean(jax.vmap(lambda lesson: _stretch(clone, lesson))(lessons))


def rolled_loss(network: Any, lessons: Lessons) -> Float[Array, ""]:
    """The same of a network that goes on from what it said itself, in memory that one step needs."""
    return jnp.mean(jax.vmap(lambda lesson: _alone(network, lesson))(lessons))


def scattered_loss(clone: Clone, lessons: Lessons, key: PRNGKeyArray) -> Float[Array, ""]:
    """The energy score of two chances: least where what the clone draws is spread as what happens is."""

    def one(lesson: Lessons, key: PRNGKeyArray) -> Float[Array, ""]:
        scene, first, truth = lesson.scene, *(jax.tree.map(lambda x, k=k: x[k], lesson.motion) for k in (0, 1))
        push, reach = _push(lesson, 0), _reach(scene)
        a, b = (clone.step(scene, at(scene, first), push, lesson.dt_s, k).motion for k in jax.random.split(key))
        near = _error(a, truth, reach, lesson.moving) + _error(b, truth, reach, lesson.moving)
        return (near - _error(a, b, reach, lesson.moving)) / 2

    return jnp.mean(jax.vmap(one)(lessons, jax.random.split(key, lessons.dt_s.shape[0])))


def _push(lesson: Lessons, step: int) -> Push:
    bodies = lesson.moving.shape[0]
    return Push(lesson.force[step], jnp.zeros(bodies), jnp.zeros((bodies, 3)))


def _stretch(clone: Clone, lesson: Lessons) -> Float[Array, ""]:
    scene: Scene = lesson.scene
    frame = lambda k: jax.tree.map(lambda x: x[k], lesson.motion)  # noqa: E731
    reach = _reach(scene)
    held, total = at(scene, frame(0)).held, jnp.zeros(())
    steps = lesson.force.shape[0]
    for k in range(steps):
        after = clone.step(scene, Moving(frame(k), jax.lax.stop_gradient(held)), _push(lesson, k), lesson.dt_s)
        held, total = after.held, total + _error(after.motion, frame(k + 1), reach, lesson.moving)
    return total / steps


def _alone(network: Any, lesson: Lessons) -> Float[Array, ""]:
    scene, reach = lesson.scene, _reach(lesson.scene)

    @eqx.filter_checkpoint
    def body(moving: Moving, now: tuple[Float[Array, "body 2"], Motion]) -> tuple[Moving, Float[Array, ""]]:
        force, truth = now
        push = Push(force, jnp.zeros(len(force)), jnp.zeros((len(force), 3)))
        moving = network.step(scene, moving, push, lesson.dt_s)
        return moving, _error(moving.motion, truth, reach, lesson.moving)

    first, later = (jax.tree.map(lambda x, k=k: x[k], lesson.motion) for k in (0, slice(1, None)))
    return jnp.mean(jax.lax.scan(body, at(scene, first), (lesson.force, later))[1])


def _error(found: Motion, truth: Motion, reach: Float[Array, " body"], counts: Array) -> Float[Array, ""]:
    speed = jnp.concatenate([found.velocity - truth.velocity, (reach * (found.spin - truth.spin))[:, None]], -1)
    place = jnp.concatenate([found.position - truth.position, (reach * (found.angle - truth.angle))[:, None]], -1)
    each = _length(speed, SPEED) + _length(place, PLACE_M)
    return jnp.sum(jnp.where(counts, each, 0.0)) / jnp.maximum(jnp.sum(counts), 1)


def _length(error: Float[Array, "body 3"], bend: float) -> Float[Array, " body"]:
    return jnp.sqrt(1 + jnp.sum((error / bend) ** 2, -1)) - 1


def _reach(scene: Scene) -> Float[Array, " body"]:
    mass = masses(scene)
    return jnp.sqrt(mass.inertia / jnp.maximum(mass.kg, 1e-6))


def _on_device(lessons: Lessons) -> Lessons:
    return jax.tree.map(jnp.asarray, lessons)
