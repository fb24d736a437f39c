"""One suite per contract, over every implementation; and over broken ones, which it must catch."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from gapless.core import Belief, Block, Log, Params, Robot, Signals, Simulator, Uniform, Verdict
from gapless.core.conformance import check_belief, check_policy, check_robot, check_simulator, check_task
from gapless.robots.cartpole import INTERFACE
from gapless.simulators import JaxCartpole
from gapless.tasks import SwingUp


def test_every_simulator_conforms(any_simulator: Simulator) -> None:
    assert check_simulator(any_simulator) == []


def test_every_robot_conforms(any_robot: Robot) -> None:
    assert check_robot(any_robot, repeatable=True) == []


def test_every_policy_conforms(any_policy: Block) -> None:
    assert check_policy(any_policy, INTERFACE) == []


def test_every_belief_conforms(any_belief: Belief) -> None:
    assert check_belief(any_belief) == []


def test_swing_up_conforms(cartpole: Simulator) -> None:
    assert check_task(SwingUp(), cartpole) == []


class ForgetfulOfWorlds(JaxCartpole):
    """Resets every world, whatever the mask says."""

    def reset(self, state: Any, where: Any, params: Params, start: Signals, key: Any) -> Any:
        return super().reset(state, np.ones(self.worlds, bool), params, start, key)


def test_a_reset_that_ignores_its_mask_is_found(traced_cartpole: JaxCartpole) -> None:
    broken = ForgetfulOfWorlds(traced_cartpole.interface, traced_cartpole.parameters, 5)
    found = check_simulator(broken)
    assert len(found) == 1
    assert found[0].startswith("A reset touches only the masked worlds: worlds beside a reset one differ in ")


def test_a_stopped_clock_and_a_boast_are_found(fake_robot: Any) -> None:
    fake_robot.now = lambda: 0.0
    fake_robot.send_action = lambda command: command
    found = check_robot(fake_robot)
    assert any("it shows 0.0 s after waiting until 0.02 s" in f for f in found)
    assert any("push is [200.0, 200.0], outside -1.0 to 2.0" in f for f in found)


class Shouting(Block):
    """Commands ever more, and remembers everything."""

    def init(self, key: Any) -> Any:
        return [jnp.zeros(1)]

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        return [*memory, inputs["pole.angle"]], {"motor": jnp.full(1, 11.0)}


def test_a_growing_memory_and_a_command_beyond_the_limits_are_found() -> None:
    found = check_policy(Shouting(), INTERFACE)
    assert any(f.startswith("The memory keeps its structure") for f in found)
    assert any("motor is [11.0], outside -10.0 to 10.0" in f for f in found)


class Boasting(Uniform):
    """Says that it is surer than its samples are."""

    def deviation(self) -> Params:
        return {k: v / 2 for k, v in super().deviation().items()}


def test_a_belief_that_is_surer_than_its_samples_is_found() -> None:
    found = check_belief(Boasting(("gain",), np.zeros(1), np.ones(1)))
    assert any("gain is 0.5 ± 0.144338, and its samples are " in f for f in found)


class Elsewhere(SwingUp):
    """Starts a joint that does not exist and lets everything pass."""

    def start(self, key: Any, n: int) -> Signals:
        return {"wheel.position": jnp.zeros((n, 1))}

    def judge(self, log: Log) -> Verdict:
        return Verdict(True, 1.0, "fine")


def test_a_start_of_an_unknown_joint_and_a_pass_for_a_stopped_log_are_found(cartpole: Simulator) -> None:
    found = check_task(Elsewhere(), cartpole)
    assert any("start names 'wheel.position', and the joints are slider, hinge" in f for f in found)
    assert any("a stopped one passed" in f for f in found)
