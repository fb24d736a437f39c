"""One more robot: a limb of its own on a trunk that others have taught, at the look that foretells lessons set aside best."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gapless.simulators.neural.clone import Clone

from .fit import Beginning, Body, Family, FitClone, Stage, clones_of, fit_clones, stretch_loss
from .lessons import Lessons

NAME = "robot"


@dataclass(frozen=True)
class Tune:
    """How a robot joins."""

    fit: FitClone = field(
        default_factory=lambda: FitClone((Stage(1, 1500, 256), Stage(4, 1000, 128), Stage(10, 500, 64)), chunk=50)
    )
    """The fit, of limb and trunk together."""
    aside: float = 0.15
    """Share of the lessons that only choose the best look."""


class Tuned(NamedTuple):
    """The clone at its best look."""

    clone: Clone
    aside: float
    """Its loss on the lessons set aside."""


def tune(body: Body, begin: Beginning | None, recipe: Tune, key: PRNGKeyArray) -> Tuned:
    """A clone of one robot, on a trunk, from a clone that it has inherited, or from nothing."""
    count = len(body.lessons.control)
    cut = max(1, round(recipe.aside * count))
    aside, own = (Lessons(*(x[side] for x in body.lessons)) for side in (slice(0, cut), slice(cut, count)))
    best = _Best(body._replace(lessons=aside))
    fit_clones({NAME: body._replace(lessons=own)}, recipe.fit, 1, key, [begin] if begin is not None else [], best)
    assert best.clone is not None
    return Tuned(best.clone, best.least)


class _Best:
    """Keeps the clone that predicts the lessons set aside best."""

    def __init__(self, body: Body) -> None:
        truth = jax.tree.map(jnp.asarray, body.lessons)
        self._loss = jax.jit(lambda clone: stretch_loss(clone, body.skeleton, truth))
        self.clone: Any = None
        self.least = float("inf")

    def __call__(self, share: float, steps: int, loss: float, family: Family) -> None:
        clone = clones_of(family, 0)[NAME]
        now = float(self._loss(clone))
        if now < self.least:
            self.clone, self.least = clone, now
