"""How far a prompter can be trusted, from watched scenes whose matter is known: never from those it is judged by."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.core import GaplessError
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.matter import NAMED, WIDTH

from .lessons_of_matter import Watched
from .observed import steps_until, touches, until
from .prompt import Honest, Prompted, Prompter, prompt
from .refine import Refining

WITHIN90 = 1.6449
"""Deviations of a Gaussian that hold 90 % of it."""
CONTACTS = 10
"""Steps with contact after which a body is asked about."""


class Case(NamedTuple):
    """One body, asked about as soon as it had touched something during ten steps."""

    watched: Watched
    body: int
    steps: int


class Error(NamedTuple):
    """How far off a body's coordinates are, and how far off they claim to be."""

    off: Float[np.ndarray, "way embedding"]
    """By the prior, the encoder and the refinement; not a number where the property was given."""
    deviation: Float[np.ndarray, "way embedding"]


def case(watched: Watched, number: int) -> Case | None:
    """One of the scene's bodies that touch something long enough, if any does."""
    touched = np.asarray(touches(watched.scene, watched.observed))
    free = np.flatnonzero(np.asarray(watched.scene.free))
    found = [(int(body), steps_until(touched[:, body], CONTACTS)) for body in free]
    long = [Case(watched, body, steps) for body, steps in found if steps is not None]
    return long[number % len(long)] if long else None


def asked(prompter: Prompter, clone: Clone, chosen: Case, recipe: Refining) -> Prompted:
    """What the frames until then say."""
    watched = chosen.watched
    return jax.device_get(
        prompt(prompter, clone, watched.scene, until(watched.observed, chosen.steps), watched.given, recipe)
    )


def error(chosen: Case, found: Prompted) -> Error:
    """Against the matter that the scene was drawn with."""
    part = int(np.flatnonzero(np.asarray(chosen.watched.scene.owner) == chosen.body)[0])
    truth = np.asarray(chosen.watched.scene.z)[part]
    own = np.sqrt(np.diag(found.refined.covariance)).reshape(-1, WIDTH)[part]
    means = np.stack([found.prior.mean[part], found.encoded.mean[part], found.refined.mean[part]])
    deviations = np.stack([found.prior.deviation[part], found.encoded.deviation[part], own])
    open_ = found.prior.deviation[part] > 0
    return Error(np.where(open_, means - truth, np.nan), np.where(open_, deviations, np.nan))


def honest(
    prompter: Prompter, clone: Clone, scenes: Sequence[Watched], recipe: Refining,
    tell: Callable[[str, float], None] = lambda words, share: None,
) -> Prompter:  # fmt: skip
    """The prompter with intervals that hold 90 % of the truths of these scenes."""
    trusting = Prompter(prompter.encoder, Honest(jnp.ones(WIDTH), jnp.ones(WIDTH)))
    errors = []
    for k, one in enumerate(scenes):
        chosen = case(one, k)
        if chosen is not None:
            errors.append(error(chosen, asked(trusting, clone, chosen, recipe)))
        tell("scenes asked about", (k + 1) / len(scenes))
    if not errors:
        raise GaplessError("no body of these scenes touches anything long enough. Watch more scenes, or for longer.")
    off = np.abs(np.stack([e.off for e in errors])) / np.stack([np.maximum(e.deviation, 1e-9) for e in errors])
    return Prompter(prompter.encoder, Honest(*(_stretch(off[:, way]) for way in (1, 2))))


def _stretch(off: Float[np.ndarray, "case embedding"]) -> Float[Array, " embedding"]:
    """For each property, what makes 90 % of the errors lie within the interval; 1 where it was never asked."""
    columns = [column[np.isfinite(column)] for column in off.T]
    return jnp.asarray([np.quantile(c, 0.9) / WITHIN90 if len(c) >= len(NAMED) else 1.0 for c in columns], jnp.float32)
