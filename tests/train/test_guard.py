"""Guards: doubt costs and cuts, looks are taken elsewhere, and a policy is confirmed where it really counts."""

from dataclasses import replace
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Params, Signals, Task, Uniform
from gapless.simulators import JaxCartpole
from gapless.train import Along, Guard, Look, Place, Ppo, Train, Trained, calibrated, confirmed, train
from gapless.train.experience import Experience
from gapless.train.judged import paid, undoubted
from gapless.train.ppo import PpoRule

SMALL = Ppo(worlds=16, steps=16, epochs=3, minibatches=2, hidden=(8, 1), budget=16 * 16 * 200)
NOW = replace(SMALL, discount=0.2)
"""For whom what comes later hardly counts, so that its critic has little to be wrong about."""
KNOWN = Uniform(("pole.mass",), np.array([0.1]), np.array([0.2]))
DOUBT = "doubt"


class Unsure(JaxCartpole):
    """Doubts itself the more, the more volts were sent to the right."""

    def _doubted(self, found: Any, volts: Any) -> Any:
        state, seen, privileged = found
        return state, seen, privileged | {DOUBT: jnp.maximum(volts, 0.0) * jnp.ones((self.worlds, 1))}

    def reset(self, state: Any, where: Any, params: Params, start: Signals, key: Any) -> Any:
        return self._doubted(super().reset(state, where, params, start, key), 0.0)

    def step(self, state: Any, command: Signals, key: Any) -> Any:
        return self._doubted(super().step(state, command, key), jnp.asarray(command["motor"]))

    def with_worlds(self, worlds: int) -> Self:
        return type(self)(self.interface, self.parameters, self.substeps, worlds)


@pytest.fixture
def unsure(traced_cartpole: JaxCartpole) -> Unsure:
    return Unsure(traced_cartpole.interface, traced_cartpole.parameters, 1)


def test_the_guard_is_calibrated_by_what_is_usual(unsure: Unsure) -> None:
    guard = calibrated(DOUBT, np.linspace(0, 1, 101), unsure, KNOWN)
    assert (guard.usual, guard.most) == pytest.approx((0.5, 0.99))
    shares = guard.share({DOUBT: jnp.array([[0.2], [0.5], [0.745], [0.99], [1.48]])})
    assert shares == pytest.approx([0.0, 0.0, 0.5, 1.0, 2.0], abs=1e-5)
    with pytest.raises(GaplessError, match="less than the most"):
        Guard(DOUBT, 1.0, 1.0, unsure, KNOWN)


def test_episodes_are_cut_short_where_doubt_is_too_much(unsure: Unsure, push: Task) -> None:
    cuts = {}
    for most in (1e-6, 1e6):
        place = Place(unsure, KNOWN, push, Guard(DOUBT, 0.0, most, unsure, KNOWN))
        rule = PpoRule(SMALL, place, None)
        learner = rule.new(jax.random.key(0))
        worlds, weights = Experience(place, SMALL.worlds, learner.policy, rule.decide), rule.weights(learner)
        _, batch = worlds.drive(weights, worlds.begin(weights, jax.random.key(1)), jax.random.key(2), 16)
        cuts[most] = float(batch["cut"].mean()), float(batch["finished"].mean())
    assert cuts[1e-6][0] > 3 * cuts[1e6][0]
    assert cuts[1e-6][1] == 0.0


def test_doubt_costs_its_share_of_what_a_period_is_usually_worth() -> None:
    """Periods are worth 2 in the mean, |1|, |2|, |−3| and |2|; half of the way to the most costs 1, all of it 2."""
    batch = {"reward": jnp.array([[1.0, 2.0], [-3.0, 2.0]]), "doubt": jnp.array([[0.0, 0.5], [1.0, 0.25]])}
    assert undoubted(batch).tolist() == [[1.0, 1.0], [-5.0, 1.5]]
    moved = batch | {"change": jnp.full((2, 2), 4.0), "unit": jnp.ones((2, 2, 1))}
    priced = Ppo(smooth=0.5, energy=1.0)
    assert paid(moved, priced, 0.1) == pytest.approx(np.array([[0.7, 0.7], [-5.3, 1.2]]), abs=1e-6)


@pytest.mark.slow
def test_a_guarded_policy_goes_where_there_is_less_doubt(unsure: Unsure, stay: Task) -> None:
    """Ten volts bring half of what a second is worth, and are doubted so much that they cost all of it: none are best then."""
    guard, visited = Guard(DOUBT, 0.0, 10.0, unsure, KNOWN), {}
    for kept in (guard, None):
        run = NOW.learning(Place(unsure, KNOWN, stay, kept), jax.random.key(0))
        run.iterate(jax.random.key(1), 80)
        rule = PpoRule(NOW, Place(unsure, KNOWN, stay, guard), None)
        worlds, weights = Experience(rule.place, 16, run.learner.policy, rule.decide), rule.weights(run.learner)
        _, batch = worlds.drive(weights, worlds.begin(weights, jax.random.key(2)), jax.random.key(3), 16)
        visited[kept is guard] = float(batch["doubt"].mean())
    assert visited[False] > 0.7
    assert visited[True] < 0.3 * visited[False]


@pytest.mark.slow
def test_looks_are_taken_elsewhere(unsure: Unsure, push: Task) -> None:
    seen: list[int] = []

    class Elsewhere(Unsure):
        def reset(self, *args: Any) -> Any:
            seen.append(self.worlds)
            return super().reset(*args)

    elsewhere = Elsewhere(unsure.interface, unsure.parameters, 1)
    recipe = Train(Ppo(worlds=8, steps=8, minibatches=2, epochs=1, hidden=(8, 1), budget=128), looks=1, worlds=5)
    train(unsure, KNOWN, push, recipe, jax.random.key(0), Along(guard=Guard(DOUBT, 0.0, 1.0, elsewhere, KNOWN)))
    assert 5 in seen


class Stated(Look):
    """A look whose answers are known beforehand."""

    def __init__(self, *values: float) -> None:
        self._values = list(values)

    def at(self, policy: Any) -> tuple[float, float]:
        return self._values[policy], 1.0


@pytest.mark.parametrize(
    ("real", "chosen", "holds", "tried"),
    [((5.0, 7.0, 9.9), 2, True, 1), ((5.0, 7.9, 3.0), 1, True, 2), ((2.0, 7.0, 3.0), 1, False, 3)],
)
def test_the_best_that_is_confirmed_is_kept(real: tuple[float, ...], chosen: int, holds: bool, tried: int) -> None:
    policies: Any = (0, 1, 2)
    found = Trained(policies[2], [(0, 1.0), (1, 6.0), (2, 8.0), (3, 10.0)], 10.0, 1.0, 3, policies)
    kept = confirmed(found, Stated(*real))
    assert (kept.policy, kept.holds, kept.tried, kept.real) == (chosen, holds, tried, real[chosen])
