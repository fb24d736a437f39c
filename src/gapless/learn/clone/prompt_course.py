"""The whole course of a prompter: watched scenes, the encoder from most of them, its honesty from the rest."""

from collections.abc import Callable
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import GaplessError, key_for
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.matter import WIDTH
from gapless.simulators.planar.scenes import Kind

from .encoder import Encoder
from .encoder_fit import Lesson, Teaching, lesson, teach
from .honesty import honest
from .lessons_of_matter import Watched, Watching, half_known, stacked, watched
from .prompt import Honest, Prompter
from .refine import Refining

KINDS: tuple[Kind, ...] = ("fall", "table")
AT_ONCE = 40
"""Scenes whose rows are made in one call."""
Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class PromptCourse:
    """How a prompter is taught."""

    scenes: int = 1200
    """Scenes of each kind that the encoder is taught with."""
    held_out: float = 0.125
    """Share of them that it is only looked at with."""
    trust: int = 40
    """Further scenes of each kind, from which it learns how far to trust itself."""
    watching: Watching = field(default_factory=Watching)
    """Which scenes, and for how long."""
    teaching: Teaching = field(default_factory=Teaching)
    """How the encoder is fitted."""
    refining: Refining = field(default_factory=Refining)
    """How its guesses are bettered."""

    def __post_init__(self) -> None:
        if self.scenes < 1 or self.trust < 1 or not 0 < self.held_out < 1:
            raise GaplessError(
                "a course needs scenes, scenes to trust itself by, and a share held out between 0 and 1."
            )


def teach_prompter(course: PromptCourse, clone: Clone, seed: int, tell: Tell = lambda words, share: None) -> Prompter:
    """A prompter for this clone; the encoder does not depend on it, how far refinement is trusted does."""
    rows = [row for kind in KINDS for row in _lessons(course, kind, seed, tell)]
    whole: Lesson = jax.tree.map(lambda *x: np.concatenate(x), *rows)
    order = np.random.default_rng(seed).permutation(len(whole.truth))
    cut = max(1, int(course.held_out * len(order)))
    held_out, taught = (jax.tree.map(lambda x, k=k: jnp.asarray(x[k]), whole) for k in (order[:cut], order[cut:]))
    tell(f"fitting the encoder, {course.teaching.fit.steps} steps", 0.0)
    encoder, _ = teach(taught, held_out, course.teaching, key_for(seed, "encoder"))
    return trust(course, encoder, clone, seed, tell)


def trust(course: PromptCourse, encoder: Encoder, clone: Clone, seed: int, tell: Tell) -> Prompter:
    """The prompter that knows how far off it is with this clone."""
    scenes = [watched(course.watching, kind, seed, "trust", k) for kind in KINDS for k in range(course.trust)]
    begun = Prompter(encoder, Honest(jnp.ones(WIDTH), jnp.ones(WIDTH)))
    return honest(begun, clone, scenes, course.refining, tell)


def _lessons(course: PromptCourse, kind: Kind, seed: int, tell: Tell) -> list[Lesson]:
    make = jax.jit(jax.vmap(lambda one: lesson(one, course.teaching.rows)))
    found = []
    for first in range(0, course.scenes, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, course.scenes))
        scenes: Watched = stacked([watched(course.watching, kind, seed, "train", k) for k in numbers])
        found.append(jax.device_get(make(half_known(scenes, first))))
        tell(
            f"watching scenes that {kind}" if kind == "fall" else "watching scenes on a table",
            len(found) * AT_ONCE / course.scenes,
        )
    return found
