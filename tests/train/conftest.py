"""A task that is learned in seconds."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from gapless.core import Channel, Feature, Log, Observation, Signals, Task, Verdict


class Push(Task):
    """Volts pay, the more the better."""

    name = "push"
    seconds = 0.3
    commands = (Channel("motor"),)
    measurements = (Channel("pole.angle"),)
    observe = Observation((Feature("pole.angle", "sin"),))

    def start(self, key: Any, n: int) -> Signals:
        return {"hinge.position": 0.1 * jax.random.normal(key, (n, 1))}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
        return command["motor"][..., 0] / 10

    def finished(self, measurement: Signals) -> Any:
        return jnp.abs(measurement["pole.angle"][..., 0]) > 100.0

    def judge(self, log: Log) -> Verdict:
        return Verdict(True, 1.0, "pushed")


@pytest.fixture
def push() -> Push:
    return Push()
