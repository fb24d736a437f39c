"""Fit a clone to lessons: the next frame from the true one before it, what contacts held coming from the clone itself."""

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


def fit_law(begun: Clone, taught: Lessons, held_out: Lessons, recipe: FitNetwork, key: PRNGKeyArray) -> Fitted:
    """The clone with another law: pairs that meet say what a touch does, and cost little."""

    def loss(law: Law, lessons: Lessons, key: PRNGKeyArray) -> Float[Array, ""]:
        return lesson_loss(eqx.tree_at(lambda c: c.law, begun, law), lessons, key)

    found = fit_network(begun.law, loss, _on_device(taught), _on_device(held_out), recipe, key)
    return found._replace(module=eqx.tree_at(lambda c: c.law, begun, found.module))


def lesson_loss(clone: Clone, lessons: Lessons, key: PRNGKeyArray) -> Float[Array, ""]:
    """Mean error over bodies and steps."""
    return jnp.mean(jax.vmap(lambda lesson: _stretch(clone, lesson))(lessons))


def _stretch(clone: Clone, lesson: Lessons) -> Float[Array, ""]:
    scene: Scene = lesson.scene
    frame = lambda k: jax.tree.map(lambda x: x[k], lesson.motion)  # noqa: E731
    reach = _reach(scene)
    held, total = at(scene, frame(0)).held, jnp.zeros(())
    steps = lesson.force.shape[0]
    for k in range(steps):
        push = Push(lesson.force[k], jnp.zeros(scene.free.shape), jnp.zeros((len(scene.free), 3)))
        after = clone.step(scene, Moving(frame(k), jax.lax.stop_gradient(held)), push, lesson.dt_s)
        held, total = after.held, total + _error(after.motion, frame(k + 1), reach, lesson.moving)
    return total / steps


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


