"""Tasks that are learned in seconds: one that anybody learns, and two for those who find out how the motor or the rail is."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Channel, Feature, Log, Observation, Signals, Task, Uniform, Verdict
from gapless.simulators import JaxCartpole
from gapless.train import Place


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


class Stay(Push):
    """Every second pays 1, and ten volts half as much again."""

    name = "stay"

    def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
        return 1 + command["motor"][..., 0] / 20


@pytest.fixture
def stay() -> Stay:
    return Stay()


class Run(Push):
    """Going right pays. Of three motors one pulls to the left, which shows by the motion alone."""

    name = "run"
    seconds = 0.8
    measurements = (Channel("cart.position"),)
    observe = Observation((Feature("cart.position", "rate"),), commands=0)

    def start(self, key: Any, n: int) -> Signals:
        return {"slider.position": 0.1 * jax.random.normal(key, (n, 1))}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
        return jnp.clip(_speed(before, after) / 0.2, -1, 1)

    def finished(self, measurement: Signals) -> Any:
        return jnp.abs(measurement["cart.position"][..., 0]) > 100.0


class Lean(Run):
    """Volts pay in the direction in which the cart rolls: the way the rail leans, which one position does not show."""

    name = "lean"
    observe = Observation((Feature("cart.position"),), commands=0)

    def start(self, key: Any, n: int) -> Signals:
        return {"slider.position": 0.2 * jax.random.normal(key, (n, 1))}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
        return jnp.clip(_speed(before, after) / 0.1, -1, 1) * command["motor"][..., 0] / 10


def _speed(before: Signals, after: Signals) -> Any:
    return (after["cart.position"] - before["cart.position"])[..., 0] / 0.02


@pytest.fixture
def run_right(traced_cartpole: JaxCartpole) -> Place:
    """Where the command that pays has the sign of a hidden param; one substep, which compiles faster."""
    wired = Uniform(("motor.gain",), np.array([-1.0]), np.array([2.0]))
    return Place(JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1), wired, Run())


@pytest.fixture
def leaning(traced_cartpole: JaxCartpole) -> Place:
    """Likewise, with a motor so weak that its commands do not show."""
    tilt = Uniform(("gravity.tilt_x", "motor.gain"), np.array([-0.4, 0.01]), np.array([0.4, 0.02]))
    return Place(JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1), tilt, Lean())
