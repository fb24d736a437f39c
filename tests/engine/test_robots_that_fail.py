"""Robots that fail under the crank: what was recorded is kept, and the same command goes on when the robot is back."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gapless.core import Artifact, GaplessError, Robot
from gapless.engine import Recipe, Stages, Workspace, robot_seconds_spent, usable
from gapless.engine.episodes import RESET_S, Plan, good_part
from gapless.logs import read_logs
from gapless.robots import Limits

EPISODES, ROWS, PERIOD_S = 3, 51, 0.02


def collect(
    workspace: Workspace, robot: Robot, make_policy: Callable, purpose: str = "excite", **recipe: Any
) -> Artifact:
    stages = Stages(workspace, Recipe(**recipe), seed=0, crank=1)
    return stages.collect(robot, purpose, Plan(EPISODES, 1.0, lambda k: make_policy(k)), {})


def failing(pretender: Callable, verb: str, fails_at: Callable[[Any], bool]) -> Any:
    """A pretender whose `verb` raises whenever `fails_at` says so."""
    robot = pretender()
    usual = getattr(robot, verb)

    def call(*arguments: Any) -> Any:
        if fails_at(robot):
            raise ConnectionError("the cable is out")
        return usual(*arguments)

    setattr(robot, verb, call)
    return robot


def test_an_episode_that_the_robot_does_not_survive_is_kept_and_the_rest_is_recorded(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    robot = failing(pretender, "get_observation", lambda r: r._episode == 101 and r._time_s > 0.59)
    made = collect(workspace, robot, make_policy)
    assert [e["stopped"] for e in made.figures["episodes"]] == [
        None, "the robot did not answer when it was to measure: ConnectionError: the cable is out", None,
    ]  # fmt: skip
    assert np.isfinite([e["return"] for e in made.figures["episodes"]]).all()
    assert made.figures["robot_seconds"] == pytest.approx((2 * ROWS + 31) * PERIOD_S + EPISODES * RESET_S)
    assert [len(log) for log in usable([made])] == [ROWS, 30, ROWS]
    assert all(np.isfinite(v).all() for log in usable([made]) for v in log.measurements.values())


def test_a_robot_that_was_lost_is_connected_anew(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    robot, calls = failing(pretender, "send_action", lambda r: r._episode == 101 and r._time_s > 0.59), []
    robot.connect, robot.disconnect = lambda: calls.append("connect"), lambda: calls.append("disconnect")
    collect(workspace, robot, make_policy)
    assert calls == ["connect", "connect", "disconnect", "connect"]


@pytest.mark.parametrize("verb", ["connect", "reset"])
def test_a_robot_that_is_gone_is_one_sentence_and_the_same_command_goes_on_later(
    workspace: Workspace, pretender: Callable, make_policy: Callable, verb: str
) -> None:
    gone = failing(pretender, verb, lambda r: r.reads > ROWS)
    with pytest.raises(GaplessError, match=f"'cartpole' did not answer to {verb} .*ConnectionError: the cable is out"):
        collect(workspace, gone, make_policy)
    assert workspace.store.all("logs") == []
    back = pretender()
    made = collect(workspace, back, make_policy)
    assert back.reads == ROWS  # two episodes were there already
    assert [len(log) for log in read_logs(made.folder / "logs")] == [ROWS] * EPISODES


def test_motions_that_were_all_stopped_at_once_are_one_sentence_and_are_recorded_anew(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    with pytest.raises(GaplessError, match=r"all 3 episodes are too short .* stopped: .*the cable is out\)\. They are"):
        collect(workspace, failing(pretender, "get_observation", lambda r: r._time_s > 0.09), make_policy)
    assert workspace.store.all("logs") == []
    aborted = workspace.store.all("aborted")
    assert len(aborted) == EPISODES
    assert "the cable is out" in aborted[0].figures["reason"]
    made = collect(workspace, pretender(), make_policy)
    assert len(usable([made])) == EPISODES
    together = made.figures["robot_seconds"] + sum(a.figures["robot_seconds"] for a in aborted)
    assert robot_seconds_spent(workspace.store) == pytest.approx(together)


def test_a_policy_that_fails_at_once_is_an_outcome_and_not_an_error(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    robot = failing(pretender, "get_observation", lambda r: r._time_s > 0.09)
    made = collect(workspace, robot, make_policy, purpose="deploy")
    assert [e["passed"] for e in made.figures["episodes"]] == [False] * EPISODES
    with pytest.raises(GaplessError, match="all 3 episodes are too short to learn from"):
        usable([made])


def test_the_gates_limits_are_the_recipes(workspace: Workspace, pretender: Callable, make_policy: Callable) -> None:
    def moves_on(robot: Any) -> bool:
        robot._time_s += 0.03 if robot.reads == 25 else 0.0
        return False

    patient = collect(workspace, failing(pretender, "get_observation", moves_on), make_policy, "deploy",
                      limits=Limits(late_periods=5.0))  # fmt: skip
    assert patient.figures["episodes"][0]["stopped"] is None


def test_a_log_is_good_up_to_where_its_robot_froze(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    robot = pretender()
    usual, swings = robot.get_observation, np.random.default_rng(0)

    def frozen() -> Any:
        seen = usual()
        noise = 1e-3 * swings.standard_normal(1) if robot._time_s < 0.79 else 0.0
        return {"cart.position": noise + np.zeros(1), "pole.angle": seen["pole.angle"]}

    robot.get_observation = frozen
    made = collect(workspace, robot, make_policy)
    log = read_logs(made.folder / "logs")[0]
    assert log.source["stopped"] == "cart.position is frozen: 10 readings in a row repeat it bit for bit"
    assert len(good_part(log)) == len(log) - 10 == 41
