"""A slider whose command is its speed, and a place where it should be: all that planning does there can be worked out by hand."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from gapless.core import Channel, Feature, Interface, Log, Observation, Parameter, Params, Signals, Task, Verdict
from gapless.simulators import TraceableSimulator

TARGET_M, PRICE = 1.0, 0.25


class Slider(TraceableSimulator):
    """Moves as fast as it is told, times its gain."""

    joints = ("slide",)
    sensed = {"place": ("slide", "position")}  # noqa: RUF012

    @staticmethod
    def advance(params: Params, position: Any, velocity: Any, control: Any, step_s: float) -> Any:
        speed = params["motor.gain"] * control
        return position + step_s * speed, speed


class Stay(Task):
    """As near to the target as may be, and calmly."""

    name = "stay"
    seconds = 2.0
    commands = (Channel("motor"),)
    measurements = (Channel("place"),)
    observe = Observation((Feature("place"),))

    def start(self, key: Any, n: int) -> Signals:
        return {"slide.position": jnp.zeros((n, 1))}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
        return -((after["place"][..., 0] - TARGET_M) ** 2) - PRICE * command["motor"][..., 0] ** 2

    def finished(self, measurement: Signals) -> Any:
        return jnp.abs(measurement["place"][..., 0]) > 100.0

    def judge(self, log: Log) -> Verdict:
        return Verdict(True, 1.0, "stayed")


@pytest.fixture
def slider() -> Callable[..., Slider]:
    def make(period_s: float = 0.5, longest_s: float = 0.0, kind: type[Slider] = Slider) -> Slider:
        """A slider with this control period, and with latency where that may be longer than nothing."""
        parameters = [Parameter("motor.gain", "", 1.0, 0.5, 2.0, "actuation")]
        if longest_s:
            parameters.append(Parameter("command.latency", "s", 0.0, 0.0, longest_s, "latency"))
        interface = Interface(
            "slider", period_s, (Channel("motor", unit="m/s", low=-2.0, high=2.0),), (Channel("place", unit="m"),)
        )
        return kind(interface, tuple(parameters), 1)

    return make


@pytest.fixture
def stay() -> Stay:
    return Stay()


@pytest.fixture
def forgetful() -> type[Slider]:
    """Forgets the commands under way whenever it is put to where it was measured."""

    class Forgetful(Slider):
        def place(self, state: Any, joints: Signals) -> Any:
            state = super().place(state, joints)
            return state._replace(past=jax.tree.map(jnp.zeros_like, state.past))

    return Forgetful
