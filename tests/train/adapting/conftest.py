"""Carts whose motor may be wired backwards, a policy that only needs to be told so, and a robot that is one of them."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Log
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import Rollout, logs_of
from gapless.train import Place, Ppo, Train
from gapless.train.adapting import Means, Tries

TINY = Train(Ppo(worlds=16, steps=16, epochs=1, minibatches=1, hidden=(8, 1), budget=512), looks=1, worlds=4)


class Adapted(NamedTuple):
    """What came of an adaptation."""

    kept: SeeingPolicy
    tried: list[SeeingPolicy]
    logs: list[Log]


Turn = Callable[[Tries], Adapted]


@pytest.fixture
def means() -> Means:
    return Means(TINY, TINY, jax.random.key(3))


@pytest.fixture
def told_gain(run_right: Place) -> NetworkPolicy:
    """Full power in the direction in which it is told that the motor pulls."""
    shape = Shape((8, 0), told=("motor.gain",))
    policy = new_policy(run_right.simulator.interface, run_right.task.observe, shape, jax.random.key(0))
    weights = jnp.array([[0.0, 4.0]]), jnp.zeros(1)
    return eqx.tree_at(lambda p: (p.network.layers[0].weight, p.network.layers[0].bias), policy, weights)


@pytest.fixture
def on_robot(run_right: Place) -> Iterator[Callable[[float], Turn]]:
    """Turns an adaptation on a cart with this gain, of which only logs are seen."""
    rollout = Rollout(run_right.simulator.with_worlds(1), run_right.task)

    def with_gain(gain: float) -> Turn:
        def turn(tries: Tries) -> Adapted:
            tried, logs = [next(tries)], []
            while True:
                key = jax.random.key(100 + len(logs))
                episodes = rollout.run(tried[-1], {"motor.gain": np.full(1, gain)}, key)
                logs += logs_of(episodes, rollout.simulator)
                try:
                    tried.append(tries.send(logs[-1]))
                except StopIteration as ended:
                    return Adapted(ended.value, tried, logs)

        return turn

    yield with_gain
