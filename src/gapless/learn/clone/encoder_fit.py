"""Teach the encoder: watched scenes whose matter is known, and the likelihood that the encoder gives to it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from gapless.nets.fitting import FitNetwork, fit_network
from gapless.simulators.planar.scene import Scene

from .encoder import Encoder
from .evidence import Evidence, evidence
from .lessons_of_matter import Watched
from .prior import Matter, prior

BLURRED = 0.02
"""Deviations below this are not worth more likelihood."""


@dataclass(frozen=True)
class Teaching:
    """How the encoder is taught."""

    rows: int = 320
    """Touches kept of each scene."""
    fit: FitNetwork = FitNetwork(rate=2e-3, batch=32, steps=4000, looks=20)
    """How it is fitted; a row is a scene."""


class Lesson(NamedTuple):
    """One scene as the encoder sees it; touches are listed without gaps."""

    scene: Scene
    prior: Matter
    evidence: Evidence
    step: Int[Array, " touch"]
    truth: Float[Array, "part embedding"]


def lesson(of: Watched, rows: int) -> Lesson:
    """The rows of one watched scene."""
    believed = prior(of.scene, of.given)
    found = evidence(of.scene, believed, of.observed)
    flat = lambda x: x.reshape(-1, *x.shape[3:])  # noqa: E731
    touch, part, touching = map(flat, (found.touch, found.part, found.touching))
    step = jnp.broadcast_to(jnp.arange(found.part.shape[0])[:, None, None], found.part.shape).reshape(-1)
    _, kept = jax.lax.top_k(touching * (1 + 1 / (2.0 + step)), rows)
    told = found._replace(touch=touch[kept], part=part[kept], touching=touching[kept])
    return Lesson(of.scene, believed, told, step[kept], of.scene.z)


def teach(lessons: Lesson, held_out: Lesson, recipe: Teaching, key: PRNGKeyArray) -> tuple[Encoder, float]:
    """The encoder that gives held-out matter the most likelihood, and how much that is per coordinate, negative."""
    begun = _scaled(Encoder(key), lessons)
    found = fit_network(begun, surprise, lessons, held_out, recipe.fit, key)
    return found.module, float(found.held_out)


def surprise(encoder: Encoder, lessons: Lesson, key: PRNGKeyArray) -> Float[Array, ""]:
    """Minus the log likelihood of the true coordinates, per coordinate; each scene is seen for a random while."""
    count, steps = lessons.evidence.seen.shape[:2]
    whiles = jax.random.randint(key, (count,), steps // 8, steps + 1)
    lost, asked = jax.vmap(lambda one, steps: _surprise(encoder, one, steps))(lessons, whiles)
    return jnp.sum(lost) / jnp.sum(asked)


def _surprise(encoder: Encoder, lesson: Lesson, steps: Int[Array, ""]) -> tuple[Array, Array]:
    found = encoder(lesson.scene, lesson.prior, seen_until(lesson, steps))
    open_: Bool[Array, "part embedding"] = lesson.prior.deviation > 0
    safe = jnp.where(open_, jnp.sqrt(found.deviation**2 + BLURRED**2), 1.0)
    off = (lesson.truth - found.mean) / safe
    return jnp.sum(jnp.where(open_, off**2 / 2 + jnp.log(safe), 0.0)), jnp.sum(open_)


def seen_until(lesson: Lesson, steps: Int[Array, ""]) -> Evidence:
    """What was seen during the first steps."""
    told = lesson.evidence
    early = (jnp.arange(told.seen.shape[0]) < steps)[:, None]
    return told._replace(
        touching=told.touching & (lesson.step < steps), seen=told.seen & early, pulled=told.pulled & early
    )


def _scaled(encoder: Encoder, lessons: Lesson) -> Encoder:
    """The encoder with features of mean 0 and deviation 1."""

    def moments(rows: Any, which: Any) -> tuple[Array, Array]:
        chosen = np.asarray(rows)[np.asarray(which)]
        return jnp.asarray(chosen.mean(0)), jnp.asarray(1 / (chosen.std(0) + 1e-2))

    told = lessons.evidence
    free = np.broadcast_to(np.asarray(lessons.scene.free)[:, None], told.seen.shape)
    new = (*moments(told.touch, told.touching), *moments(told.body, np.asarray(told.seen) & free))
    places = lambda e: (e.touch_shift, e.touch_scale, e.body_shift, e.body_scale)  # noqa: E731
    return eqx.tree_at(places, encoder, new)
