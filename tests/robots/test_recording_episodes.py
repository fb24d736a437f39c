"""Recording an episode: what was sent and measured, at its time, and an end soon after a stop."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Block, Params, Signals
from gapless.robots import Gate, record


class Ramp(Block):
    """Pushes a little more with every step; at step `breaks` it commands not-a-number."""

    breaks: int = 10**6

    def init(self, key: Any) -> Any:
        return jnp.zeros((), jnp.int32)

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        value = jnp.where(memory == self.breaks, jnp.nan, 0.01 * memory)
        return memory + 1, {"push": jnp.full(2, value)}


class Loose(Block):
    """A block that cannot be traced."""

    traceable = False

    def init(self, key: Any) -> Any:
        return 0

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        return memory + 1, {"push": np.full(2, 0.01 * memory if float(inputs["place"][0]) >= 0 else 0.0)}


@pytest.mark.parametrize("policy", [Ramp(), Loose()])
def test_a_log_holds_what_was_sent_and_measured_at_its_time(fake_robot: Any, policy: Block) -> None:
    fake_robot.connect()
    log = record(fake_robot, policy, 0.2, 3, jax.random.key(0))
    assert len(log) == 11
    assert log.command_time == pytest.approx(0.02 * np.arange(11))
    assert log.commands["push"][:, 0] == pytest.approx(0.01 * np.arange(11))
    # The place is the sum of pushes, from the third episode's start on.
    expected = 0.03 + 0.02 * np.cumsum([0, *(0.01 * np.arange(10))])
    assert log.measurements["place"][:, 0] == pytest.approx(expected)
    assert log.source == {"episode": 3, "stopped": None, "saturated": 0.0, "spoiled": 0}


def test_every_row_is_noted_as_it_happens(fake_robot: Any) -> None:
    fake_robot.connect()
    noted: list[dict] = []
    log = record(fake_robot, Ramp(), 0.1, 0, jax.random.key(0), note=noted.append)
    assert [row["sent"]["push"][0] for row in noted] == log.commands["push"][:, 0].tolist()


def test_an_episode_ends_at_rest_when_the_task_is_finished(fake_robot: Any) -> None:
    fake_robot.connect()
    log = record(fake_robot, Ramp(), 1.0, 0, jax.random.key(0), finished=lambda seen: seen["place"][0] > 0.001)
    places = log.measurements["place"][:, 0]
    assert places[-1] > 0.001 >= places[-2]
    assert log.commands["push"][-1].tolist() == [0.0, 0.0]
    assert log.source["stopped"] is None


def test_an_episode_ends_with_the_period_of_a_policys_mistake_and_keeps_its_log(fake_robot: Any) -> None:
    fake_robot.connect()
    log = record(fake_robot, Ramp(breaks=4), 1.0, 0, jax.random.key(0))
    assert len(log) == 5
    assert log.commands["push"][-1].tolist() == [0.0, 0.0]
    assert log.source["stopped"] == "the policy commanded [nan, nan] for push"


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({}, "the robot did not measure place"),
        ({"place": np.array([np.nan, 0.0])}, "the robot measured [nan, 0.0] for place"),
        ({"place": np.array([6.0, 0.0])}, "place is [6.0, 0.0], outside -5.0 to 5.0 m"),
        ({"place": np.zeros(3)}, "the robot measured [0.0, 0.0, 0.0] for place"),
    ],
)
def test_an_episode_ends_with_the_period_of_a_bad_measurement(fake_robot: Any, bad: Signals, says: str) -> None:
    fake_robot.connect()
    fake_robot.measured = lambda k: {"place": np.zeros(2)} if k < 6 else bad
    log = record(fake_robot, Ramp(), 1.0, 0, jax.random.key(0))
    assert len(log) == 6
    assert log.commands["push"][-1].tolist() == [0.0, 0.0]
    assert log.source["stopped"] == says
    assert np.isfinite(log.measurements["place"][:5]).all()


def test_a_robots_own_time_stamps_are_kept(fake_robot: Any) -> None:
    fake_robot.connect()
    fake_robot.measured = lambda k: {"place": np.zeros(2), "place.time": np.array([fake_robot.now() - 0.003])}
    log = record(fake_robot, Ramp(), 0.1, 0, jax.random.key(0))
    assert log.measurement_time["place"] == pytest.approx(log.command_time - 0.003)


def test_a_gate_that_is_given_is_the_gate_that_is_used(fake_robot: Any) -> None:
    fake_robot.connect()
    gate = Gate(fake_robot)
    record(gate, Ramp(breaks=0), 0.1, 0, jax.random.key(0))
    assert gate.stopped == "the policy commanded [nan, nan] for push"


class Saboteur(Loose):
    """A policy that raises."""

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        if memory == 3:
            raise RuntimeError("a bug in the policy")
        return super().step(params, memory, inputs, dt_s, key)


@pytest.mark.parametrize("verb", ["get_observation", "send_action", "wait_until"])
def test_the_log_of_a_robot_that_dies_is_kept_and_says_why(fake_robot: Any, verb: str) -> None:
    fake_robot.connect()
    usual, noted = getattr(fake_robot, verb), []

    def dies(*arguments: Any) -> Any:
        if fake_robot.now() > 0.19:
            raise ConnectionError("the cable is out")
        return usual(*arguments)

    setattr(fake_robot, verb, dies)
    log = record(fake_robot, Loose(), 1.0, 0, jax.random.key(0), note=noted.append)
    assert "ConnectionError: the cable is out" in log.source["stopped"]
    assert len(log) == len(noted) in (11, 12)
    good = len(log) - log.source["spoiled"]
    assert good >= 10
    assert np.isfinite(log.measurements["place"][:good]).all() and np.isfinite(log.commands["push"][:good]).all()


def test_a_policys_error_leaves_the_robot_at_rest_and_is_raised(fake_robot: Any) -> None:
    fake_robot.connect()
    with pytest.raises(RuntimeError, match="a bug in the policy"):
        record(fake_robot, Saboteur(), 1.0, 0, jax.random.key(0))
    assert fake_robot.sent[-1][1]["push"].tolist() == [0.0, 0.0]


def test_an_episode_that_ends_in_time_leaves_the_robot_at_rest(fake_robot: Any) -> None:
    fake_robot.connect()
    log = record(fake_robot, Ramp(), 0.2, 0, jax.random.key(0))
    assert log.commands["push"][-1].tolist() != [0.0, 0.0]
    assert fake_robot.sent[-1][1]["push"].tolist() == [0.0, 0.0]


def test_a_log_of_measurements_that_are_no_numbers_can_be_kept(fake_robot: Any) -> None:
    fake_robot.connect()
    fake_robot.measured = lambda k: {"place": np.zeros(2)} if k < 4 else {"place": ["left", "right"], "place.time": []}
    log = record(fake_robot, Ramp(), 1.0, 0, jax.random.key(0))
    assert log.source["stopped"] == "the robot measured no numbers for place"
    assert np.isnan(log.measurements["place"][-1]).all()
    assert log.source["spoiled"] == 1


def test_a_log_says_how_much_the_policy_pushed_against_its_limits(fake_robot: Any) -> None:
    fake_robot.connect()
    fake_robot.interface = replace(
        fake_robot.interface, commands=(replace(fake_robot.interface.commands[0], high=0.06),)
    )
    log = record(fake_robot, Ramp(), 0.2, 0, jax.random.key(0))
    assert log.source["saturated"] == pytest.approx(5 / 11, abs=1e-4)  # steps 6 to 10 of 0 to 10
