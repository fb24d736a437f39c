"""Hold-load: rewards worked out by hand, where it ends, verdicts, and what changes in it."""

from pathlib import Path

import numpy as np
import pytest

from gapless.core import Log, on_one_clock
from gapless.core.conformance import check_task
from gapless.engine import new_workspace
from gapless.robots import arm
from gapless.robots.arm import INTERFACE
from gapless.tasks import HoldLoad
from gapless.tasks.hold_load import ARM_RAD, AWAY_M, HOOK_KG, LIFTED_S, NEAR_M, TARGET_M, TARGET_RAD, tip_off

TASK = HoldLoad()


def seen(shoulder: float, elbow: float) -> dict[str, np.ndarray]:
    return {"shoulder.angle": np.array([[shoulder]]), "elbow.angle": np.array([[elbow]])}


def test_the_target_is_where_the_tip_is_at_its_angles_and_far_from_where_it_hangs() -> None:
    assert float(tip_off(seen(*TARGET_RAD))[0]) == pytest.approx(0.0, abs=1e-4)
    hangs = np.hypot(TARGET_M[0], TARGET_M[1] + 0.55)
    assert float(tip_off(seen(0.0, 0.0))[0]) == pytest.approx(hangs, abs=1e-6)
    assert pytest.approx(hangs, abs=1e-3) == AWAY_M


def test_the_tip_on_its_target_pays_one_per_second_less_what_volts_cost() -> None:
    for volts, pays in ((0.0, 1.0), (10.0, 0.98)):
        command = {name: np.array([[volts]]) for name in ("shoulder", "elbow")}
        assert float(np.asarray(TASK.reward(seen(0, 0), command, seen(*TARGET_RAD)))[0]) == pytest.approx(
            pays, abs=1e-3
        )


def test_it_ends_where_a_joint_turns_too_far() -> None:
    assert not np.asarray(TASK.finished(seen(*TARGET_RAD))).any()
    assert np.asarray(TASK.finished(seen(0.0, -ARM_RAD - 0.01))).all()


@pytest.mark.parametrize(("aside", "passed"), [(0.0, True), (0.5, False)])
def test_the_verdict_is_how_far_off_the_tip_was_after_the_lift(aside: float, passed: bool) -> None:
    verdict = TASK.judge(log_of(aside))
    assert verdict.passed == passed
    off = float(tip_off(seen(TARGET_RAD[0] + aside, TARGET_RAD[1]))[0])
    assert verdict.margin == pytest.approx(1 - off / NEAR_M, abs=1e-3)


def test_an_episode_that_ended_early_fails() -> None:
    assert not TASK.judge(log_of(0.0).first(50)).passed


def test_the_bench_loads_the_hook_as_the_task_says() -> None:
    hung, taken = TASK.changes
    assert (hung.low, hung.high, hung.from_s, hung.to_s) == (*arm.LOADS_KG, *arm.HUNG_S)
    assert (taken.low, taken.high, taken.from_s, taken.to_s) == (arm.HOOK_KG, HOOK_KG, *arm.TAKEN_S)


def test_hold_load_conforms(tmp_path: Path) -> None:
    assert check_task(TASK, new_workspace(tmp_path / "w", "arm", "hold-load").simulator) == []


def log_of(aside: float) -> Log:
    """A tip that hangs until it must be there, and is beside the target from then on."""
    times = np.arange(round(TASK.seconds / INTERFACE.period_s) + 1) * INTERFACE.period_s
    up = times >= LIFTED_S
    angles = np.where(up[:, None], np.array([TARGET_RAD[0] + aside, TARGET_RAD[1]]), 0.0)
    measured = {"shoulder.angle": angles[:, :1], "elbow.angle": angles[:, 1:]}
    return on_one_clock(INTERFACE, {n: np.zeros((len(times), 1)) for n in INTERFACE.command_names}, measured, times)
