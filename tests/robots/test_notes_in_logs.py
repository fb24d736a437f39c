"""What a policy notes about its episode is written into the log: why it went wrong, and which rows nobody should learn from."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Block, Params, Robot, Signals
from gapless.robots import record


class Doubts(Block):
    """Commands half a push, and at the end says what it thinks of the episode."""

    says: tuple[tuple[str, Any], ...]

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> tuple[Any, Signals]:
        return memory + 1, {"push": jnp.full(2, 0.5)}

    def notes(self, memory: Any) -> dict[str, Any]:
        return dict(self.says)


def source(robot: Robot, **says: Any) -> dict[str, Any]:
    robot.connect()
    return record(robot, Doubts(tuple(says.items())), 0.2, 3, jax.random.key(0)).source


def test_why_and_when_are_in_the_log_and_later_rows_are_spoiled(fake_robot: Robot) -> None:
    found = source(fake_robot, stopped="the monitor handed over", alarm_s=0.12, trusted=4)
    assert found["stopped"] == "the monitor handed over" and found["alarm_s"] == 0.12
    assert found["spoiled"] == 11 - 4  # ten periods and the measurement after the last
    assert "trusted" not in found and found["episode"] == 3


def test_a_policy_that_notes_nothing_leaves_the_log_as_it_was(fake_robot: Robot) -> None:
    found = source(fake_robot)
    assert found["stopped"] is None and found["spoiled"] == 0


def test_the_gates_own_reason_comes_first(fake_robot: Robot) -> None:
    fake_robot.measured = lambda reads: {"place": np.full(2, 9.0 if reads > 5 else 0.1 * np.sin(reads))}  # type: ignore[attr-defined]
    found = source(fake_robot, stopped="the monitor handed over", trusted=2)
    assert "outside -5.0 to 5.0" in found["stopped"]
