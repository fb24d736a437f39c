"""Slide: rewards worked out by hand, where it ends, and verdicts."""

from pathlib import Path

import numpy as np
import pytest

from gapless.core import Log, on_one_clock
from gapless.core.conformance import check_task
from gapless.engine import new_workspace
from gapless.robots.puck import INTERFACE
from gapless.tasks import Slide
from gapless.tasks.slide import ARM_RAD, NEAR_M, TABLE_M, TARGET_M, WIDTH_M

TASK = Slide()


def seen(x: float, y: float = 0.0) -> dict[str, np.ndarray]:
    home = {name: np.zeros((1, 1)) for name in ("shoulder.angle", "elbow.angle")}
    return {"puck.x": np.array([[x]]), "puck.y": np.array([[y]]), **home}


def reward(x: float, y: float = 0.0, volts: float = 0.0) -> float:
    command = {"shoulder": np.array([[volts]]), "elbow": np.array([[0.0]])}
    return float(np.asarray(TASK.reward(seen(0.0), command, seen(x, y)))[0])


def test_lying_on_the_target_pays_one_per_second_and_lying_at_home_next_to_nothing() -> None:
    assert reward(*TARGET_M) == pytest.approx(1.0, abs=1e-4)
    assert reward(0.0) == pytest.approx(0.6 * np.exp(-((TARGET_M[0] / WIDTH_M) ** 2)), abs=1e-6)


def test_further_away_than_home_pays_nothing_and_never_less() -> None:
    assert reward(-0.5) == pytest.approx(0.0, abs=1e-6)
    assert reward(0.0, 0.7) == pytest.approx(0.0, abs=1e-6)


def test_full_volts_cost_a_hundredth() -> None:
    assert reward(*TARGET_M, volts=10.0) == pytest.approx(0.99, abs=1e-4)


def test_the_episode_ends_when_the_puck_leaves_the_table() -> None:
    assert not bool(np.asarray(TASK.finished(seen(TABLE_M - 0.01)))[0])
    assert bool(np.asarray(TASK.finished(seen(0.0, -TABLE_M - 0.01)))[0])


def test_the_episode_ends_when_a_joint_turns_too_far() -> None:
    assert bool(np.asarray(TASK.finished(seen(0.0) | {"elbow.angle": np.array([[-ARM_RAD - 0.01]])}))[0])


@pytest.mark.parametrize(("off", "passed"), [(NEAR_M - 0.01, True), (NEAR_M + 0.01, False)])
def test_the_verdict_is_where_the_puck_lies_at_the_end(off: float, passed: bool) -> None:
    verdict = TASK.judge(episode(np.linspace(0.0, TARGET_M[0] - off, 101)))
    assert verdict.passed is passed
    assert verdict.margin == pytest.approx(1 - off / NEAR_M, abs=1e-6)


def test_a_puck_that_left_the_table_fails() -> None:
    verdict = TASK.judge(episode(np.linspace(0.0, 0.9, 30)))
    assert not verdict.passed
    assert "left the table" in verdict.reason


def test_it_keeps_the_laws_of_a_task(tmp_path: Path) -> None:
    check_task(TASK, new_workspace(tmp_path / "w", "puck", "slide").simulator)


def episode(x: np.ndarray) -> Log:
    rows = len(x)
    commands = {name: np.zeros((rows, 1)) for name in INTERFACE.command_names}
    measurements = {name: np.zeros((rows, 1)) for name in INTERFACE.measurement_names} | {"puck.x": x[:, None]}
    return on_one_clock(INTERFACE, commands, measurements, np.arange(rows) * INTERFACE.period_s)
