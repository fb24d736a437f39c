"""Teach the encoder: watched scenes whose matter is known, and the likelihood that the encoder gives to it."""

from collections.abc import Callable
from dataclasses import dataclass, field
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

WHILES = 12, 97
"""Fewest steps of a scene that are shown, and one more than the most."""
BLURRED = 0.02
"""Deviations below this are not worth more likelihood."""


@dataclass(frozen=True)
class Teaching:
    """How the encoder is taught."""

    rows: int = 200
    """Touches, and motions of bodies, kept of each scene."""
    fit: FitNetwork = field(default_factory=lambda: FitNetwork(rate=3e-3, batch=32, steps=3000, looks=15))
    """How it is fitted; a row is a scene."""


class Lesson(NamedTuple):
    """One scene as the encoder sees it; touches are listed without gaps."""

    scene: Scene
    prior: Matter
    evidence: Evidence
    touched_at: Int[Array, " touch"]
    """Step of each touch."""
    moved_at: Int[Array, " body"]
    """Step of each row of a body."""
    truth: Float[Array, "part embedding"]


def lesson(of: Watched, rows: int) -> Lesson:
    """The rows of one watched scene."""
    believed = prior(of.scene, of.given)
    told = evidence(of.scene, believed, of.observed)
    asked = jnp.any(believed.deviation > 0, -1)
    touches = _listed(told.touching & asked[told.part], rows)
    bodies = _listed(told.seen & (told.pulled | (of.scene.table > 0)), rows)
    short = Evidence(
        *(touches(x) for x in (told.touch, told.part, told.touching, told.implied)),
        *(bodies(x) for x in (told.body, told.who, told.seen, told.pulled, told.moving)),
    )
    steps = [jnp.broadcast_to(_steps(x), x.shape) for x in (told.touching, told.seen)]
    return Lesson(of.scene, believed, short, touches(steps[0]), bodies(steps[1]), of.scene.z)


def _listed(which: Bool[Array, " step *row"], count: int) -> Callable[[Array], Array]:
    """What picks the first rows of which something can be learned, by step; what is picked beyond them says nothing."""
    first = jnp.where(which, 1 / (2.0 + _steps(which)), 0.0).reshape(-1)
    worth, kept = jax.lax.top_k(first, count)

    def pick(rows: Array) -> Array:
        picked = rows.reshape(first.size, *rows.shape[which.ndim :])[kept]
        return picked & (worth > 0) if picked.dtype == bool else picked

    return pick


def _steps(rows: Bool[Array, " step *row"]) -> Int[Array, " step *one"]:
    return jnp.arange(len(rows)).reshape(-1, *(1 for _ in rows.shape[1:]))


def teach(lessons: Lesson, held_out: Lesson, recipe: Teaching, key: PRNGKeyArray) -> tuple[Encoder, float]:
    """The encoder that gives held-out matter the most likelihood, and how much that is per coordinate, negative."""
    begun = _scaled(Encoder(key), lessons)
    found = fit_network(begun, surprise, lessons, held_out, recipe.fit, key)
    return found.module, float(found.held_out)


def surprise(encoder: Encoder, lessons: Lesson, key: PRNGKeyArray) -> Float[Array, ""]:
    """Minus the log likelihood of the true coordinates, per coordinate; each scene is seen for a random while."""
    count = len(lessons.truth)
    whiles = jax.random.randint(key, (count,), *WHILES)
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
    early = lesson.moved_at < steps
    return told._replace(
        touching=told.touching & (lesson.touched_at < steps), seen=told.seen & early, pulled=told.pulled & early
    )


def _scaled(encoder: Encoder, lessons: Lesson) -> Encoder:
    """The encoder with features of mean 0 and deviation 1."""

    def moments(rows: Any, which: Any) -> tuple[Array, Array]:
        chosen = np.asarray(rows)[np.asarray(which)]
        return jnp.asarray(chosen.mean(0)), jnp.asarray(1 / (chosen.std(0) + 1e-2))

    told = lessons.evidence
    new = (*moments(told.touch, told.touching), *moments(told.body, told.seen))
    places = lambda e: (e.touch_shift, e.touch_scale, e.body_shift, e.body_scale)  # noqa: E731
    return eqx.tree_at(places, encoder, new)
