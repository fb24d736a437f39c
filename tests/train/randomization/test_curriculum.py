"""What to practise next: weights by hand, and a learner that gets further with a curriculum than without."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.train.randomization import Curriculum, graded
from gapless.train.randomization.curriculum import draw


def test_what_is_passed_half_of_the_time_is_practised_most() -> None:
    # p (1 − p) is 0, 0.25, 0.0475 … and a tenth is spread over all four.
    weights = Curriculum(passed=(1.0, 0.5, 0.05, 0.0)).weights
    near = np.array([0.0, 0.25, 0.0475, 0.0]) / 0.2975
    assert weights == pytest.approx(0.025 + 0.9 * near)
    assert weights.sum() == pytest.approx(1.0)


def test_where_everything_is_certain_all_is_practised_alike() -> None:
    assert Curriculum(passed=(1.0, 1.0)).weights == pytest.approx([0.5, 0.5])


def test_outcomes_move_the_estimate_of_their_own_bin() -> None:
    after = Curriculum(passed=(0.5, 0.5), memory=0.8).told([0.1, 0.2, 0.99, 1.0], [True, True, False, False])
    # 0.5 → 0.8·0.5 + 0.2 = 0.6 → 0.8·0.6 + 0.2 = 0.68, and likewise down to 0.4 and 0.32.
    assert after.passed == pytest.approx((0.68, 0.32))


def test_difficulties_are_drawn_with_their_weights() -> None:
    curriculum = Curriculum(passed=(1.0, 0.5, 0.0, 0.0))
    drawn = np.asarray(draw(jnp.asarray(curriculum.weights), jax.random.key(0), 4000))
    shares = np.histogram(drawn, bins=4, range=(0, 1))[0] / 4000
    assert shares == pytest.approx(curriculum.weights, abs=0.03)


def practised(with_curriculum: bool, batches: int = 40) -> float:
    """The skill, in difficulties passed half of the time, of a learner that learns from what it passes now and then."""
    curriculum, skill, rng = Curriculum(), 0.05, np.random.default_rng(0)
    for _ in range(batches):
        weights = curriculum.weights if with_curriculum else np.full(10, 0.1)
        difficulty = (rng.choice(10, 16, p=weights) + rng.uniform(size=16)) / 10
        chance = 1 / (1 + np.exp((difficulty - skill) / 0.05))
        skill += 0.005 * float((4 * chance * (1 - chance)).sum())
        curriculum = curriculum.told(difficulty.tolist(), (rng.uniform(size=16) < chance).tolist())
    return skill


def test_a_learner_gets_further_with_a_curriculum() -> None:
    assert practised(True) > practised(False) + 0.2


def test_a_curriculum_of_nothing_is_refused() -> None:
    with pytest.raises(GaplessError, match="needs bins"):
        Curriculum(passed=())


def test_pushes_and_starts_are_graded_alike() -> None:
    share = jnp.array([0.0, 0.25, 1.0])
    pushes = graded({}, {"slider.push": np.full(3, 2.0)}, share)
    assert pushes["slider.push"] == pytest.approx([0.0, 0.5, 2.0])
    starts = graded({"hinge.position": np.full((3, 1), 3.0)}, {"hinge.position": np.full((3, 1), 1.0)}, share)
    assert starts["hinge.position"] == pytest.approx(np.array([[3.0], [2.5], [1.0]]))
