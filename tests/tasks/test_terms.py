"""Reward terms: whatever a task names, its parts add up to its reward, and those of an episode to its return."""

import jax
import numpy as np
import pytest

from gapless.core import Interface, Task, on_one_clock
from gapless.tasks import TASKS


@pytest.mark.parametrize("name", TASKS)
def test_the_terms_of_every_task_add_up_to_its_reward(name: str) -> None:
    task, rng = TASKS[name](), np.random.default_rng(1)
    before, after = ({c.name: rng.normal(0, 0.4, (50, 1)) for c in task.measurements} for _ in range(2))
    command = {c.name: rng.uniform(c.low, c.high, (50, 1)) for c in task.commands}
    terms = task.terms(before, command, after)
    assert len(terms) > 1
    assert np.allclose(sum(np.asarray(v) for v in terms.values()), task.reward(before, command, after), atol=1e-6)


@pytest.mark.parametrize("name", TASKS)
def test_the_shares_of_an_episode_add_up_to_its_return(name: str) -> None:
    task, rng = TASKS[name](), np.random.default_rng(2)
    machine = Interface("any", 0.02, task.commands, task.measurements)
    measured = {c.name: np.cumsum(rng.normal(0, 0.01, (60, 1)), axis=0) for c in task.measurements}
    commands = {c.name: rng.uniform(c.low, c.high, (60, 1)) for c in task.commands}
    log = on_one_clock(machine, commands, measured, np.arange(60) * 0.02)
    assert sum(task.shares(log).values()) == pytest.approx(task.score(log), abs=1e-5)
    assert task.shares(on_one_clock(machine, {k: v[:1] for k, v in commands.items()},
                                    {k: v[:1] for k, v in measured.items()}, np.zeros(1))) == {}  # fmt: skip


def test_a_task_that_names_no_terms_has_one() -> None:
    class Plain(TASKS["slide"]):
        terms = Task.terms

        def reward(self, before: dict, command: dict, after: dict) -> jax.Array:
            return 2 * after["puck.x"][..., 0]

    seen = {"puck.x": np.ones((3, 1))}
    assert {k: np.asarray(v).tolist() for k, v in Plain().terms(seen, {}, seen).items()} == {"reward": [2.0, 2.0, 2.0]}
