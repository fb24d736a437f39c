"""What is trained over: ranges grow from look to look as the policy passes at their edges."""

import jax
import numpy as np
import pytest

from gapless.core import GaplessError, Task, Uniform
from gapless.simulators import JaxCartpole
from gapless.train import Along, Ppo, Train, train
from gapless.train.randomization.trained_over import trained_over

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
    assert trained_over("belief", coarse, known, push).belief is known
    table = trained_over("classic", coarse, known, push)
    assert "pole.mass" in table.belief.names and len(table.belief.names) > 1
    assert table.figures() == {}
    with pytest.raises(GaplessError, match="choose one of belief, classic, adaptive"):
        trained_over("everything", coarse, known, push)  # pyright: ignore[reportArgumentType]
