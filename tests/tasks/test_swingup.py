"""Swing-up: rewards worked out by hand, where it ends, and verdicts."""

import jax
import numpy as np
import pytest

from gapless.core import Log, on_one_clock
from gapless.robots.cartpole import INTERFACE
from gapless.tasks import SwingUp
from gapless.tasks.swingup import UPRIGHT_RAD

TASK = SwingUp()
RAIL_M = TASK.reach


def reward(angle: float, before: float | None = None, place: float = 0.0, volts: float = 0.0) -> float:
    seen = [{"pole.angle": np.array([[a]]), "cart.position": np.array([[place]])} for a in (before or angle, angle)]
    return float(np.asarray(TASK.reward(seen[0], {"motor": np.array([[volts]])}, seen[1]))[0])


def test_hanging_pays_nothing_and_upright_pays_one_per_second() -> None:
    assert reward(0.0) == pytest.approx(0.0)
    assert reward(np.pi) == pytest.approx(1.0)
    assert reward(np.pi / 2) == pytest.approx(0.5)


def test_the_end_of_the_rail_halves_it_and_full_volts_cost_a_twentieth() -> None:
    assert reward(np.pi, place=RAIL_M) == pytest.approx(0.5)
    assert reward(np.pi, volts=-10.0) == pytest.approx(0.95)


def test_whirling_past_the_top_pays_less_than_standing_there() -> None:
    # 4 rad/s: 0.3 + 0.7/e.
    assert reward(np.pi, before=np.pi - 0.08) == pytest.approx(0.3 + 0.7 / np.e, abs=1e-4)


def test_a_whole_turn_more_changes_nothing() -> None:
    assert reward(2.0 + 2 * np.pi, before=2.0) == pytest.approx(reward(2.0), abs=1e-5)


@pytest.mark.parametrize(
    ("place", "ends"), [(0.0, False), (RAIL_M - 0.001, False), (RAIL_M + 0.001, True), (-0.5, True)]
)
def test_it_ends_where_the_rail_does(place: float, ends: bool) -> None:
    assert bool(TASK.finished({"cart.position": np.array([place])})) is ends


def episode(rows: int, angle: float, **source: object) -> Log:
    """`rows` periods, the last second of them at an angle."""
    angles = np.where(np.arange(rows) < rows - 60, 0.0, angle)[:, None]
    measured = {"pole.angle": angles, "cart.position": np.zeros((rows, 1))}
    clock = np.arange(rows) * INTERFACE.period_s
    return on_one_clock(INTERFACE, {"motor": np.zeros((rows, 1))}, measured, clock, dict(source))


def test_a_pole_that_stays_up_passes_by_how_upright_it_is() -> None:
    verdict = TASK.judge(episode(251, np.pi + 0.1))
    assert verdict.passed
    assert verdict.margin == pytest.approx(1 - 0.1 / UPRIGHT_RAD)
    assert verdict.reason == "stays upright: 0.10 rad off in the last second"


def test_a_pole_that_hangs_an_early_end_and_a_stop_fail_with_their_reasons() -> None:
    assert TASK.judge(episode(251, 0.0)).reason.startswith("falls or never gets up: 3.14 rad off")
    assert TASK.judge(episode(100, np.pi)).reason == "the cart left the rail after 2.0 s"
    stopped = TASK.judge(episode(251, np.pi, stopped="the pole moves at 99 rad/s"))
    assert stopped.reason == "the robot was stopped: the pole moves at 99 rad/s"
    assert not stopped.passed


def test_training_starts_see_the_top_and_the_robots_do_not() -> None:
    hanging, anywhere = (np.asarray(f(jax.random.key(0), 500)["hinge.position"]) for f in (TASK.start, TASK.explore))
    assert np.abs(hanging).max() < 0.5
    assert 0.05 < (np.abs(anywhere) > 2.0).mean() < 0.35
