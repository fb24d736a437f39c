"""Push: rewards worked out by hand, where it ends, verdicts and starts."""

import warnings

import jax
import numpy as np
import pytest

from gapless.core import Log, on_one_clock
from gapless.core.conformance import check_task
from gapless.simulators.planar.box2d_robot import Box2DRobot
from gapless.simulators.planar.things import PUSHER_HOME_M, PUSHER_M, Thing, pusher_table
from gapless.tasks import Push
from gapless.tasks.push import ASIDE_M, NEAR_M, TABLE_M, TARGET_M, WIDTH_M

TASK, TABLE = Push(), pusher_table(Thing("puck"))


def seen(x: float, y: float = 0.0) -> dict[str, np.ndarray]:
    return {c.name: np.zeros((1, 1)) for c in TASK.measurements} | {
        "puck.x": np.array([[x]]),
        "puck.y": np.array([[y]]),
    }


def reward(x: float, y: float = 0.0, speed: float = 0.0) -> float:
    command = {"pusher.vx": np.array([[speed]]), "pusher.vy": np.zeros((1, 1))}
    return float(np.asarray(TASK.reward(seen(0.0), command, seen(x, y)))[0])


def test_lying_on_the_target_pays_one_per_second_and_lying_at_home_next_to_nothing() -> None:
    assert reward(*TARGET_M) == pytest.approx(1.0, abs=1e-4)
    assert reward(0.0) == pytest.approx(0.5 * np.exp(-((TARGET_M[0] / WIDTH_M) ** 2)), abs=1e-5)


def test_going_full_speed_costs_a_fiftieth() -> None:
    assert reward(*TARGET_M, speed=1.5) == pytest.approx(0.98, abs=1e-4)


def test_the_episode_ends_when_the_puck_leaves_the_table() -> None:
    assert not bool(np.asarray(TASK.finished(seen(TABLE_M - 0.01)))[0])
    assert bool(np.asarray(TASK.finished(seen(0.0, -TABLE_M - 0.01)))[0])


@pytest.mark.parametrize(("off", "passed"), [(NEAR_M - 0.01, True), (NEAR_M + 0.01, False)])
def test_the_verdict_is_where_the_puck_lies_at_the_end(off: float, passed: bool) -> None:
    verdict = TASK.judge(episode(np.linspace(0.0, TARGET_M[0] - off, 81)))
    assert verdict.passed is passed
    assert verdict.margin == pytest.approx(1 - off / NEAR_M, abs=1e-6)


def test_a_puck_that_left_the_table_fails() -> None:
    verdict = TASK.judge(episode(np.linspace(0.0, 2.1, 30)))
    assert not verdict.passed
    assert "left the table" in verdict.reason


def test_no_start_lets_the_pusher_overlap_the_puck() -> None:
    assert -PUSHER_HOME_M[0] > PUSHER_M + Thing("puck").radius_m
    for draw in (TASK.start, TASK.explore):
        start = {k: np.asarray(v)[:, 0] for k, v in draw(jax.random.key(0), 500).items()}
        behind = start["puck_x.position"] - start["pusher_x.position"]
        assert behind.min() > -1e-6
        assert np.abs(start["puck_y.position"]).max() <= ASIDE_M


def test_it_keeps_the_laws_of_a_task() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Box2D's wrapper's own
        pytest.importorskip("Box2D")
    assert check_task(TASK, Box2DRobot(TABLE)) == []


def episode(x: np.ndarray) -> Log:
    rows, interface = len(x), TABLE.interface
    commands = {name: np.zeros((rows, 1)) for name in interface.command_names}
    measurements = {name: np.zeros((rows, 1)) for name in interface.measurement_names} | {"puck.x": x[:, None]}
    return on_one_clock(interface, commands, measurements, np.arange(rows) * interface.period_s)
