"""One suite per contract, over every implementation; and over broken ones, which it must catch."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Belief, Block, Log, Params, Robot, Signals, Simulator, Uniform, Verdict
from gapless.core.conformance import (
    Finding,
    Handled,
    check_belief,
    check_policy,
    check_robot,
    check_simulator,
    check_task,
    examine,
)
from gapless.core.conformance.laws import Note, Seen, findings
from gapless.core.conformance.patience import within
from gapless.core.conformance.robot import READ, TIMED
from gapless.core.loading import load_class
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


def test_what_is_only_worth_knowing_breaks_no_law() -> None:
    def law() -> Iterator[str]:
        """A rule.

        A remedy.
        """
        yield Seen("all of it")
        yield Note("a detail")

    assert findings([law]) == []
    assert examine({"clock": [law]}) == [Finding("clock", "note", "A rule", "a detail", "A remedy.")]


def test_a_law_that_holds_says_what_was_seen() -> None:
    def law() -> Iterator[str]:
        """A rule."""
        yield Seen("all of it")

    assert examine({"clock": [law]}) == [Finding("clock", "pass", "A rule", "all of it")]


def test_many_findings_of_one_law_are_cut_short() -> None:
    def law() -> Iterator[str]:
        """A rule."""
        yield from "abcde"

    assert [f.seen for f in examine({"clock": [law]})] == ["a", "b", "c; and 2 more of it"]


def test_an_error_names_the_line_of_the_users_own_code(fake_robot: Any, tmp_path: Path) -> None:
    (tmp_path / "driver.py").write_text("def read():\n    return {}['bus']\n")
    fake_robot.get_observation = load_class(f"{tmp_path / 'driver.py'}:read", "driver")
    found = check_robot(fake_robot)
    assert any("KeyError was raised in driver.py, line 2 ('bus')" in f for f in found)


def test_a_verb_that_hangs_is_interrupted() -> None:
    with pytest.raises(TimeoutError, match=r"did not come back within 0\.05 s"), within(0.05):
        time.sleep(5.0)
    time.sleep(0.06)  # the alarm is off again


def test_hardware_that_is_only_read_is_neither_reset_nor_commanded(fake_robot: Any) -> None:
    fake_robot.reset = fake_robot.send_action = None
    assert all(f.mark != "fail" for f in examine(READ | TIMED, Handled(fake_robot, move=False)))


class Lopsided(SwingUp):
    """Rewards with a branch, which cannot be compiled."""

    def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
        return (
            super().reward(before, command, after)
            if float(after["pole.angle"].sum()) > 9
            else before["pole.angle"][:, 0]
        )


def test_a_reward_that_cannot_be_compiled_is_found(cartpole: Simulator) -> None:
    found = check_task(Lopsided(), cartpole)
    assert any(
        f.startswith("Reward, end and starts can be compiled") and "test_conformance.py, line" in f for f in found
    )
