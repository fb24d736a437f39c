"""One learning after another: the first takes its iterations, hands over once, and goes on where it was interrupted."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Task, Uniform
from gapless.nets.weights import load_weights, save_weights
from gapless.simulators import MujocoSimulator
from gapless.train import Distil, Method, Place, Ppo, Rma
from gapless.train.phases import Phases, share_of

KEY = jax.random.key(0)
TINY: dict[str, Any] = {"worlds": 4, "steps": 4, "minibatches": 2, "epochs": 1, "budget": 4 * 4 * 2}
FIRST = Ppo(epochs=1, minibatches=2, hidden=(4, 1))
METHODS = [Distil(**TINY, teacher=FIRST, hidden=(4, 1), replay=2), Rma(**TINY, base=FIRST)]


class Counting:
    """Learns by counting."""

    def __init__(self) -> None:
        self.learner, self.begun = jnp.asarray(0), 0

    @property
    def policy(self) -> Any:
        return self.learner

    @property
    def steps_done(self) -> int:
        return int(self.learner)

    def begin(self, key: Any, place: Any = None) -> None:
        self.begun += 1

    def iterate(self, key: Any, times: int = 1) -> dict[str, float]:
        self.learner = self.learner + times
        return {"times": float(times)}


def phases(length: int) -> tuple[Phases, Any, Any]:
    first, second = Counting(), Counting()
    pair: Any = first, second
    return Phases(*pair, length, lambda learner, policy: learner + 100 * policy), first, second


def test_the_second_begins_with_what_the_first_has_learnt() -> None:
    both, first, second = phases(3)
    both.begin(KEY)
    assert (first.begun, second.begun) == (1, 0)
    assert both.iterate(KEY, 2) == {"times": 2.0}
    assert not both.ready and int(both.policy) == 0 and int(both.before) == 2
    assert both.iterate(KEY, 5) == {"times": 4.0}
    assert (int(first.learner), int(second.learner), second.begun) == (3, 304, 1)
    assert both.ready and both.steps_done == 307
    both.begin(KEY)
    both.iterate(KEY)
    assert (int(first.learner), int(second.learner), second.begun) == (3, 305, 2)


def test_what_was_kept_goes_on_in_the_phase_that_it_was_in() -> None:
    whole, (interrupted, first, second) = phases(2)[0], phases(2)
    whole.iterate(KEY, 3)
    kept = whole.learner
    interrupted.learner = kept
    interrupted.iterate(KEY, 1)
    assert (int(first.learner), int(second.learner)) == (2, 202)
    assert int(kept["done"]) == 3 and int(interrupted.learner["done"]) == 4


def test_both_phases_have_a_part_of_every_budget() -> None:
    assert share_of(1000, 0.3, 100) == (3, 7)
    assert share_of(100, 0.5, 100) == (1, 1)
    assert share_of(1000, 0.999, 100) == (9, 1)
    with pytest.raises(GaplessError, match="between 0 and 1"):
        share_of(1000, 1.0, 100)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.word)
def test_all_that_learning_changes_can_be_kept(run_right: Place, method: Method, tmp_path: Path) -> None:
    one, other = (method.learning(run_right, jax.random.key(k)) for k in (0, 1))
    save_weights(tmp_path / "learner.safetensors", one.learner)
    other.learner = load_weights(tmp_path / "learner.safetensors", other.learner)
    pairs = zip(*(jax.tree.leaves(x.learner) for x in (one, other)), strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs if hasattr(a, "dtype"))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.word)
def test_both_phases_work_in_a_simulator_that_is_stepped(cartpole: MujocoSimulator, push: Task, method: Method) -> None:
    doubt = Uniform(("motor.gain",), np.array([1.0]), np.array([2.0]))
    learning = method.learning(Place(cartpole, doubt, push), KEY)
    notes = learning.iterate(KEY, 2)
    assert learning.ready and learning.steps_done == 4 * 4 * 2
    assert all(np.isfinite(v) for v in notes.values())
    assert not learning.policy.told
