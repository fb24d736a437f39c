"""Strategy optimization: a robot that is wired backwards is found out in few episodes."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Belief, Gaussian, Params
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.train import Place, Ppo, Train
from gapless.train.adapting import Adapter, Means, adapter_of, worth
from gapless.train.adapting.spread import spread
from gapless.train.adapting.strategy import StrategyBo, StrategyCma
from gapless.train.adapting.universal import directions

KEY = jax.random.key(0)
WAYS = [StrategyCma(), StrategyBo()]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.word)
def test_a_motor_wired_backwards_is_found_out(
    way: Adapter, run_right: Place, told_gain: NetworkPolicy, means: Means, on_robot
) -> None:
    made = on_robot(-0.8)(way.tries(told_gain, run_right, means))
    values = [worth(run_right.task, log) for log in made.logs]
    assert len(made.logs) == 10
    assert values[0] < -0.5  # told the belief's centre, it goes left
    kept = [eqx.tree_equal(made.kept, policy) for policy in made.tried]
    assert max(value for value, same in zip(values, kept, strict=True) if same) > 0.5


def test_the_same_logs_give_the_same_tries(run_right: Place, told_gain: NetworkPolicy, means: Means, on_robot) -> None:
    way = StrategyBo(episodes=3)
    once, again = (on_robot(1.5)(way.tries(told_gain, run_right, means)) for _ in range(2))
    assert eqx.tree_equal(once.tried, again.tried) and eqx.tree_equal(once.kept, again.kept)


@pytest.mark.slow
def test_searched_is_what_changes_the_commands(run_right: Place) -> None:
    names = ("pole.mass", "motor.gain", "cart.mass")
    over = Gaussian(names, np.ones(3), np.diag([0.04, 0.25, 0.01]), np.zeros(3), np.full(3, 2.0))
    policy = new_policy(run_right.simulator.interface, run_right.task.observe, Shape((8, 0), told=names), KEY)
    weights = jnp.array([[0.3, 0.0, 1.0, 0.0]]), jnp.zeros(1)
    policy = eqx.tree_at(lambda p: (p.network.layers[0].weight, p.network.layers[0].bias), policy, weights)
    (found,) = directions(policy, run_right, over, 1, KEY)
    assert np.abs(found) == pytest.approx([0.0, 1.0, 0.0], abs=1e-6)


def test_however_sure_a_belief_is_strategies_differ(run_right: Place) -> None:
    sure = Gaussian(("motor.gain",), np.array([1.0]), np.array([[1e-8]]), np.array([0.0]), np.array([2.0]))
    assert float(spread(run_right.simulator, sure).deviation()["motor.gain"]) == pytest.approx(0.1)


class Heaps(Belief):
    """A motor of strength 1, wired either way."""

    names: tuple[str, ...] = ("motor.gain",)

    def sample(self, key: PRNGKeyArray, n: int) -> Params:
        return {"motor.gain": jnp.where(jax.random.bernoulli(key, 0.3, (n,)), -1.0, 1.0)}

    def log_prob(self, params: Params) -> Float[Array, " n"]:
        return jnp.log(jnp.where(params["motor.gain"] < 0, 0.3, 0.7))

    def mean(self) -> Params:
        return {"motor.gain": jnp.asarray(0.4)}

    def deviation(self) -> Params:
        return {"motor.gain": jnp.asarray(0.9)}

    def to_dict(self) -> dict:
        return {"kind": "heaps"}


def test_strategies_reach_all_that_a_belief_without_ends_draws(run_right: Place) -> None:
    simulator = run_right.simulator
    assert all(
        p.low >= 0 for p in simulator.parameters if p.name == "motor.gain"
    )  # the data sheet knows of one way only
    assert spread(simulator, Heaps()).low.tolist() == [-1.0]


def test_words_are_ways() -> None:
    assert {adapter_of(word).word for word in ("strategy-cma", "strategy-bo")} == {"strategy-cma", "strategy-bo"}


@pytest.mark.slow
def test_a_universal_policy_is_trained_and_adapted(run_right: Place, means: Means, on_robot) -> None:
    learned = replace(means, recipe=Train(Ppo(worlds=64, steps=20, hidden=(16, 1), budget=64 * 20 * 30), looks=3))
    prepared = StrategyBo().prepared(run_right, learned)
    made = on_robot(-0.8)(StrategyBo(episodes=8).tries(prepared, run_right, means))
    values = [worth(run_right.task, log) for log in made.logs]
    assert max(values) > values[0] + 0.3
