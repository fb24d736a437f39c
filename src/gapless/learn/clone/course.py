"""The whole course of a clone: the law from pairs that meet, then everything from scenes of many bodies; members one by one."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import jax
import numpy as np

from gapless.core import GaplessError, generator_for, key_for
from gapless.nets.fitting import FitNetwork, Fitted
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.scenes import Scenes

from .fit import fit_clone, fit_law
from .lessons import Lessons, Teach, lessons

HELD_OUT = 0.1
"""Share of scenes, on top of those taught, that the clone is looked at with."""
PAIRS = Teach(
    scenes=6000, steps=24, stretches=2, length=1, draw=Scenes(bodies=(2, 2), walls=False, meet=True, speed=5.0)
)

MANY = Teach(scenes=600, draw=Scenes(bodies=(1, 10), speed=4.0))


@dataclass(frozen=True)
class Course:
    """How a clone is taught."""

    members: int = 3
    """Independent clones: each its own first weights, scenes and order."""
    rounds: int = 48
    """Rounds in which contacts push."""
    pairs: Teach = PAIRS
    """Lessons about touching."""
    law: FitNetwork = field(default_factory=lambda: FitNetwork(rate=1e-2, batch=512, steps=2000, looks=20, decay=0.0))
    """How the law is fitted."""
    scenes: Teach = MANY
    """Lessons about many bodies."""
    whole: FitNetwork = field(default_factory=lambda: FitNetwork(rate=2e-3, batch=48, steps=600, looks=6, decay=0.0))
    """How everything is fitted together."""

    def __post_init__(self) -> None:
        if self.members < 1 or self.rounds < 1:
            raise GaplessError(f"a course needs a member and a round (found {self.members} and {self.rounds}).")


class Taught(NamedTuple):
    """A member, and its error on held-out lessons after each part of the course."""

    clone: Clone
    law: float
    whole: float


Tell = Callable[[str], None]


def teach(course: Course, seed: int, member: int, tell: Tell = lambda what: None) -> Taught:
    """One member of the ensemble."""
    key = key_for(seed, "clone", member)
    clone = Clone(key, course.rounds)
    tell(f"member {member + 1} of {course.members}: {course.pairs.scenes} pairs meet in Box2D")
    taught, held_out = _lessons(course.pairs, seed, member, "pairs")
    tell(f"member {member + 1} of {course.members}: fitting what a touch does, {course.law.steps} steps")
    noisy = course.pairs.teacher.scatter > 0
    law = fit_law(clone, taught, held_out, course.law, jax.random.fold_in(key, 1), noisy)
    tell(f"member {member + 1} of {course.members}: {course.scenes.scenes} scenes in Box2D")
    taught, held_out = _lessons(course.scenes, seed, member, "scenes")
    tell(f"member {member + 1} of {course.members}: fitting everything, {course.whole.steps} steps")
    whole: Fitted = fit_clone(law.module, taught, held_out, course.whole, jax.random.fold_in(key, 2))
    return Taught(whole.module, float(law.held_out), float(whole.held_out))


def _lessons(recipe: Teach, seed: int, member: int, name: str) -> tuple[Lessons, Lessons]:
    fewer = replace(recipe, scenes=max(1, int(HELD_OUT * recipe.scenes)))
    rng: np.random.Generator = generator_for(seed, "lessons", name, member)
    with jax.default_device(jax.devices("cpu")[0]):  # scenes are drawn one by one, which a GPU is slow at
        return lessons(recipe, rng), lessons(fewer, generator_for(seed, "held out", name, member))
