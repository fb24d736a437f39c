"""What is trained over: ranges grow from look to look as the policy passes at their edges."""

from collections.abc import Mapping
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Channel, Feature, GaplessError, Log, Observation, Signals, Task, Uniform, Verdict
from gapless.simulators import JaxCartpole
from gapless.train import Along, Ppo, Train, train
from gapless.train.randomization.trained_over import Begins, trained_over

TINY = Ppo(worlds=8, steps=8, epochs=1, minibatches=1, hidden=(4, 1), budget=8 * 8 * 3)


@pytest.fixture
def coarse(traced_cartpole: JaxCartpole) -> JaxCartpole:
    return JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1)


@pytest.mark.slow
def test_ranges_grow_while_a_policy_passes_everywhere(coarse: JaxCartpole, push: Task) -> None:
    told: list[dict[str, float]] = []
    known = Uniform(("pole.mass",), np.array([0.1]), np.array([0.2]))
    recipe = Train(TINY, over="adaptive", looks=3, worlds=2, patience=9)
    train(coarse, known, push, recipe, jax.random.key(0), Along(tell=lambda steps, figures: told.append(figures)))
    assert [f["extent"] for f in told] == pytest.approx([0.1, 0.2, 0.3])


def test_the_belief_and_the_table_stay_as_they_are(coarse: JaxCartpole, push: Task) -> None:
    known = Uniform(("pole.mass",), np.array([0.1]), np.array([0.2]))
    assert trained_over("belief", "task", coarse, known, push).belief is known
    table = trained_over("classic", "task", coarse, known, push)
    assert "pole.mass" in table.belief.names and len(table.belief.names) > 1
    assert table.figures() == {}
    with pytest.raises(GaplessError, match="choose one of belief, classic, adaptive"):
        trained_over("everything", "task", coarse, known, push)  # pyright: ignore[reportArgumentType]


class Park(Task):
    """The far end of the rail pays and nothing else does: from the other end nobody meets it by chance."""

    name = "park"
    seconds = 1.5
    commands = (Channel("motor"),)
    measurements = (Channel("cart.position"),)
    observe = Observation((Feature("cart.position"), Feature("cart.position", "rate")))
    easy: ClassVar[Mapping[str, float]] = {"slider.position": -0.33}

    def start(self, key: Any, n: int) -> Signals:
        return {"slider.position": 0.33 + 0.01 * jax.random.normal(key, (n, 1))}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
        return 1.0 * (jnp.abs(after["cart.position"][..., 0] + 0.33) < 0.04)

    def finished(self, measurement: Signals) -> Any:
        return jnp.abs(measurement["cart.position"][..., 0]) > 0.4

    def judge(self, log: Log) -> Verdict:
        off = abs(float(log.measurements["cart.position"][-1, 0]) + 0.33) / 0.04
        return Verdict(off < 1, 1 - off, f"{off:.1f} times as far away as it may be")


def parked(simulator: JaxCartpole, starts: Begins) -> tuple[list[float], list[float]]:
    """The share of episodes that pass at every look, and how much of the way a curriculum says is passed."""
    told: list[dict[str, float]] = []
    method = Ppo(worlds=32, steps=16, epochs=4, hidden=(16, 1), noise=0.2, budget=32 * 16 * 80)
    known = Uniform(("pole.mass",), np.array([0.14]), np.array([0.16]))
    recipe = Train(method, starts=starts, looks=8, worlds=16, patience=9)
    train(simulator, known, Park(), recipe, jax.random.key(0), Along(tell=lambda steps, f: told.append(f)))
    return [f["passed"] for f in told], [f["way"] for f in told if "way" in f]


@pytest.mark.slow
def test_a_task_that_pays_far_away_is_learned_sooner_from_graded_starts(coarse: JaxCartpole) -> None:
    alone, _ = parked(coarse, "task")
    graded, way = parked(coarse, "graded")
    assert max(alone) < 0.1 and graded[-1] > 0.8
    assert way[-1] > way[0] + 0.2


def test_starts_are_graded_or_the_tasks(coarse: JaxCartpole, push: Task) -> None:
    known = Uniform(("pole.mass",), np.array([0.1]), np.array([0.2]))
    assert trained_over("belief", "task", coarse, known, push).starts is None
    graded = trained_over("belief", "graded", coarse, known, Park())
    assert graded.starts is not None and graded.starts.weights == pytest.approx(np.full(10, 0.1))
    assert graded.figures() == {"way": pytest.approx(0.5)}
    with pytest.raises(GaplessError, match="choose one of task, graded"):
        trained_over("belief", "anywhere", coarse, known, push)  # pyright: ignore[reportArgumentType]
