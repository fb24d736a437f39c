"""Starts of training: wider than the task's, or on the way to it; the task itself stays as it is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Task
from gapless.core.conformance import check_task
from gapless.simulators import MujocoSimulator
from gapless.tasks import SwingUp
from gapless.train.randomization import Curriculum, Starts, WiderStarts, graded_starts


def test_training_begins_wider_and_the_robot_where_it_did() -> None:
    task, wide = SwingUp(), WiderStarts(SwingUp(), Starts(0.1, 0.3))
    one, other = (t.start(jax.random.key(0), 50) for t in (task, wide))
    assert all((one[k] == other[k]).all() for k in one)
    begun = wide.explore(jax.random.key(0), 4000)
    own = task.explore(jax.random.key(0), 4000)
    assert np.std(begun["slider.velocity"]) > np.std(own["slider.velocity"])
    assert np.abs(np.asarray(wide.explore(jax.random.key(1), 9)["hinge.position"])).max() > 0


def test_a_difficulty_is_a_share_of_the_way_from_the_easy_start_to_the_tasks_own() -> None:
    task = SwingUp()
    graded, own = graded_starts(task, Curriculum()), task.start(jax.random.key(0), 3)
    found = graded.at(task, jnp.array([0.0, 0.5, 1.0]), jax.random.key(0))
    assert found["hinge.position"][:, 0] == pytest.approx(
        [np.pi, 0.5 * np.pi + 0.5 * float(own["hinge.position"][1, 0]), float(own["hinge.position"][2, 0])], abs=1e-5
    )
    assert found["slider.position"][0, 0] == 0.0


def test_graded_starts_follow_the_curriculum_and_keep_a_quarter_of_the_tasks_own() -> None:
    easy = graded_starts(SwingUp(), Curriculum(passed=(0.5, *[0.0] * 9), anywhere=0.01))
    begun = np.abs(np.asarray(easy.draw(SwingUp(), jax.random.key(0), 2000)["hinge.position"]))
    assert np.mean(begun > 0.85 * np.pi) == pytest.approx(0.75, abs=0.04)
    assert np.mean(begun < 0.3) == pytest.approx(0.25, abs=0.04)


def test_a_task_without_an_easy_start_cannot_be_graded(push: Task) -> None:
    with pytest.raises(GaplessError, match="'push' names no easy start"):
        graded_starts(push, Curriculum())


def test_wider_starts_are_a_task_as_any_other(cartpole: MujocoSimulator) -> None:
    assert check_task(WiderStarts(SwingUp()), cartpole) == []
