"""Carry: rewards worked out by hand, where it ends, and a gripper that does it."""

import warnings
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Log, Signals, Simulator, key_for, on_one_clock, prior_belief
from gapless.core.conformance import check_task
from gapless.simulators import Rollout, logs_of
from gapless.simulators.planar.box2d_robot import Box2DRobot
from gapless.simulators.planar.robot import CloneRobot
from gapless.simulators.planar.stored import members
from gapless.simulators.planar.things import GAP_M, PLATE_M, Thing, gripper_table
from gapless.tasks import Carry
from gapless.tasks.carry import AWAY_M, CRUSHED_M, HELD_M, TARGET_M
from gapless.train import Ppo, Train, train

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Box2D's wrapper's own
    pytest.importorskip("Box2D")
BOX = ((-0.2, -0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, 0.2))
TASK, TABLE = Carry(), gripper_table(Thing("box", corners=BOX))
WORLDS = 4


def seen(x: float = 0.0, y: float = 0.0, gap: float = 0.0) -> Signals:
    rest = {c.name: np.zeros((1, 1)) for c in TASK.measurements}
    return rest | {"box.x": np.array([[x]]), "box.y": np.array([[y]]), "gripper.gap": np.array([[gap]])}


def scripted(seen: Signals) -> Signals:
    """Close; then go where the box should be, pressing a little; there, stand still."""
    held = np.asarray(seen["gripper.gap"]) < HELD_M + 0.005
    off = [TARGET_M[k] - np.asarray(seen[f"box.{side}"]) for k, side in enumerate(("x", "y"))]
    far = np.hypot(*off) > 0.02
    go = [np.where(held & far, np.clip(2 * o, -0.6, 0.6), 0.0) for o in off]
    return {"gripper.vx": go[0], "gripper.vy": go[1], "gripper.opening": np.where(held, -0.02 * far, -0.3)}


def carried(robot: Simulator, policy: Callable[[Signals], Signals]) -> list[Log]:
    everywhere, key = np.ones(WORLDS, bool), jax.random.key(0)
    step = jax.jit(robot.step) if robot.traceable else robot.step
    state, now, _ = robot.reset(robot.init(), everywhere, {}, TASK.start(key_for(0, "carry"), WORLDS), key)
    rows = round(TASK.seconds / TABLE.interface.period_s)
    frames, sent = [{k: np.array(v) for k, v in now.items()}], []
    for _ in range(rows):
        sent.append(policy(frames[-1]))
        state, now, _ = step(state, sent[-1], key)
        frames.append({k: np.array(v) for k, v in now.items()})
    clock = np.arange(rows + 1) * TABLE.interface.period_s
    column = lambda rows, k: {name: np.stack([r[name][k] for r in rows]) for name in rows[0]}  # noqa: E731
    return [
        on_one_clock(TABLE.interface, column([*sent, sent[-1]], k), column(frames, k), clock) for k in range(WORLDS)
    ]


def test_plates_touch_the_box_where_it_is_said_to_be_held() -> None:
    assert abs(GAP_M + HELD_M - 2 * (0.2 + PLATE_M[0])) < 1e-9


def test_lying_on_the_target_pays_one_per_second_and_haste_costs() -> None:
    still = {c.name: np.zeros((1, 1)) for c in TASK.commands}
    assert float(TASK.reward(seen(), still, seen(*TARGET_M))[0]) == pytest.approx(1.0, abs=1e-4)
    assert float(TASK.reward(seen(), still, seen(-TARGET_M[0], -TARGET_M[1]))[0]) == pytest.approx(0.0, abs=1e-4)
    fast = still | {"gripper.vy": np.full((1, 1), 1.5)}
    assert float(TASK.reward(seen(), fast, seen(*TARGET_M))[0]) == pytest.approx(0.98, abs=1e-4)
    halfway = float(TASK.reward(seen(), still, seen(TARGET_M[0] / 2, TARGET_M[1] / 2))[0])
    assert halfway == pytest.approx(0.5 * np.exp(-((AWAY_M / 2 / 0.25) ** 2)) + 0.25, abs=1e-4)


def test_the_episode_ends_when_the_box_is_crushed_or_leaves_the_table() -> None:
    assert not bool(jnp.any(TASK.finished(seen(1.9, 0.0, CRUSHED_M + 0.01))))
    assert bool(TASK.finished(seen(gap=CRUSHED_M - 0.01))[0])
    assert bool(TASK.finished(seen(0.0, -2.1))[0])


def test_no_start_lets_a_plate_overlap_the_box() -> None:
    for draw in (TASK.start, TASK.explore):
        start = {k: np.asarray(v) for k, v in draw(jax.random.key(0), 500).items()}
        room = (GAP_M + start["gripper_gap.position"]) / 2 - PLATE_M[0] - 0.2
        assert (room - np.abs(start["box_x.position"] - start["gripper_x.position"])).min() > 0


def test_it_keeps_the_laws_of_a_task() -> None:
    assert check_task(TASK, Box2DRobot(TABLE)) == []


def test_plates_that_close_and_go_bring_the_box_to_its_target_in_box2d() -> None:
    verdicts = [TASK.judge(log) for log in carried(Box2DRobot(TABLE, WORLDS), scripted)]
    assert all(v.passed for v in verdicts), verdicts


def test_plates_that_do_not_close_leave_it_behind() -> None:
    still = np.zeros((WORLDS, 1))
    away = {"gripper.vx": still, "gripper.vy": still + 0.3, "gripper.opening": still}
    assert not any(TASK.judge(log).passed for log in carried(Box2DRobot(TABLE, WORLDS), lambda now: away))


@pytest.mark.slow
def test_plates_that_close_and_go_bring_the_box_to_its_target_in_the_clone() -> None:
    verdicts = [TASK.judge(log) for log in carried(CloneRobot(TABLE, members()[:1], WORLDS), scripted)]
    assert all(v.passed for v in verdicts), verdicts


@pytest.mark.slow
def test_a_gripper_trained_in_the_clone_carries_the_box_in_box2d() -> None:
    robot = CloneRobot(TABLE, members()[:1])
    recipe = Train(Ppo(budget=300_000), looks=6)
    policy = train(robot, prior_belief(TABLE.parameters), TASK, recipe, key_for(0, "carry")).policy
    box2d = Box2DRobot(TABLE, 16)
    start = TASK.start(key_for(1, "carry"), 16)
    episodes = Rollout(box2d, TASK).run(policy, {}, jax.random.key(0), start)
    assert np.mean([TASK.judge(log).passed for log in logs_of(episodes, box2d)]) >= 0.8
