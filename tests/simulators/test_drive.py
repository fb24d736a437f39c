"""One driver for both kinds of simulator: the same logs, one trace, ends where the task ends."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Block, Params, Signals, Simulator
from gapless.nets.policy import NetworkPolicy
from gapless.simulators import JaxCartpole, Rollout, logs_of, rollout
from gapless.tasks import SwingUp


class Brief(SwingUp):
    """A short episode."""

    seconds = 0.6


class Push(Block):
    """A constant command; counts how often it is traced."""

    volts: Any
    traces: list

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        self.traces.append(1)
        return memory, {"motor": self.volts * jnp.ones(1)}


class Counter(list):
    """A list that is equal to itself only, so that it may be a static part of a block."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def test_the_traced_and_the_stepped_way_write_the_same_logs(
    cartpole: Simulator, traced_cartpole: JaxCartpole, make_policy: Callable[..., NetworkPolicy]
) -> None:
    params = {"pole.mass": np.array([0.1, 0.2, 0.3]), "command.latency": np.array([0.0, 0.013, 0.05])}
    both = (cartpole.with_worlds(3), traced_cartpole.with_worlds(3))
    runs = [rollout(s, params, make_policy(), Brief(), jax.random.key(2)) for s in both]
    for one, other in zip(*runs, strict=True):
        assert len(one) == len(other) > 10
        for name in ("motor", "cart.position", "pole.angle"):
            values = [(log.commands | log.measurements)[name] for log in (one, other)]
            assert values[0] == pytest.approx(values[1], abs=1e-4)


@pytest.mark.parametrize("kind", ["stepped", "traced"])
def test_policies_of_one_shape_are_traced_once(kind: str, cartpole: Simulator, traced_cartpole: JaxCartpole) -> None:
    episodes, traces = Rollout({"stepped": cartpole, "traced": traced_cartpole}[kind], Brief()), Counter()
    counts = []
    for volts in (1.0, -2.0, 3.0):
        episodes.run(Push(jnp.asarray(volts), traces), {"pole.mass": np.array([0.1 * abs(volts)])}, jax.random.key(0))
        counts.append(len(traces))
    # Where all worlds begin and in the loop, when first met and never again.
    assert counts == [counts[0]] * 3


def test_an_episode_ends_with_the_measurement_that_ended_it(any_cartpole: Simulator) -> None:
    simulator = any_cartpole.with_worlds(2)
    policy = Push(jnp.asarray(10.0), Counter())
    start = {"slider.position": np.array([[0.3], [-0.3]])}
    episodes = Rollout(simulator, Brief()).run(policy, {}, jax.random.key(0), start)
    logs = logs_of(episodes, simulator)
    for log in logs:
        gone = np.abs(log.measurements["cart.position"][:, 0]) > 0.42
        assert gone[-1] and not gone[:-1].any()
    assert len(logs[0]) < len(logs[1])


def test_the_return_of_an_episode_is_the_score_of_its_log(
    any_cartpole: Simulator, make_policy: Callable[..., NetworkPolicy]
) -> None:
    simulator, task = any_cartpole.with_worlds(3), Brief()
    start = {"hinge.position": np.array([[0.0], [2.0], [3.1]]), "slider.velocity": np.array([[0.0], [3.0], [0.0]])}
    episodes = Rollout(simulator, task).run(make_policy(), {}, jax.random.key(0), start)
    scores = [task.score(log) for log in logs_of(episodes, simulator)]
    assert episodes.returns == pytest.approx(scores, abs=1e-4)


def test_the_same_key_gives_the_same_episodes_with_noise(any_cartpole: Simulator) -> None:
    params = {"pole.angle.noise": np.array([0.1])}
    episodes, policy = Rollout(any_cartpole, Brief()), Push(jnp.asarray(1.0), Counter())
    runs = [episodes.run(policy, params, jax.random.key(k)).measurements["pole.angle"] for k in (0, 0, 1)]
    assert (runs[0] == runs[1]).all()
    assert (runs[0] != runs[2]).any()


@pytest.fixture(params=["stepped", "traced"])
def any_cartpole(request: pytest.FixtureRequest, cartpole: Simulator, traced_cartpole: JaxCartpole) -> Simulator:
    return {"stepped": cartpole, "traced": traced_cartpole}[request.param]
