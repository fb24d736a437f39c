"""Small courses: laws found again."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.learn.clone import Course, Teach, fit_law, lessons
from gapless.learn.clone.course import PAIRS
from gapless.nets.fitting import FitNetwork
from gapless.simulators.planar.clone import Clone
from gapless.simulators.planar.scenes import Scenes
from gapless.simulators.planar.teacher import Teacher

pytest.importorskip("Box2D")


def test_lessons_are_the_same_for_the_same_seed_and_mostly_about_touching() -> None:
    recipe = Teach(scenes=4, steps=40, stretches=5, draw=Scenes(bodies=(3, 3)))
    one, other = (lessons(recipe, np.random.default_rng(2)) for _ in range(2))
    np.testing.assert_array_equal(one.motion.velocity, other.motion.velocity)
    assert one.motion.velocity.shape[:2] == (20, recipe.length + 1)
    free = np.diff(one.motion.velocity, axis=1) - (one.scene.gravity[:, None, None] + 0) * one.dt_s[:, None, None, None]
    jolted = np.abs(np.where(one.moving[:, None, :, None], free, 0)).max((1, 2, 3)) > 1e-2
    assert jolted.mean() > 0.4


def test_a_course_without_members_is_refused_in_one_sentence() -> None:
    with pytest.raises(GaplessError, match="needs a member"):
        Course(members=0)


@pytest.mark.slow
def test_the_law_of_friction_and_bounce_is_found_from_pairs_that_meet() -> None:
    taught, held_out = (lessons(replace(PAIRS, scenes=n), np.random.default_rng(n)) for n in (1500, 150))
    recipe = FitNetwork(rate=1e-2, batch=256, steps=600, looks=6, decay=0.0)
    found = fit_law(Clone(jax.random.key(0), 24), taught, held_out, recipe, jax.random.key(1))
    assert float(found.held_out) < 0.02 * float(found.before)


@pytest.mark.slow
def test_a_law_learns_how_much_touches_differ() -> None:
    noisy = replace(PAIRS, kinds=("fall",), teacher=Teacher(scatter=0.4))
    taught, held_out = (lessons(replace(noisy, scenes=n), np.random.default_rng(n)) for n in (1500, 150))
    recipe = FitNetwork(rate=1e-2, batch=256, steps=800, looks=8, decay=0.0)
    found = fit_law(Clone(jax.random.key(0), 24), taught, held_out, recipe, jax.random.key(1), noisy=True)
    np.testing.assert_allclose(np.exp(found.module.law.scatter), 0.4, atol=0.2)
