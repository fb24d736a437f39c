"""Episodes on the robot: none is lost, none is recorded twice, and each of their seconds is counted."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gapless.core import Artifact, Robot
from gapless.engine import Recipe, Stages, Workspace, robot_seconds_spent
from gapless.engine.episodes import RESET_S, EpisodeFile, Plan
from gapless.logs import read_logs

EPISODES, SECONDS, PERIOD_S = 3, 1.0, 0.02
ROWS = 51
"""Of one episode: a second, both ends included; the last command holds for a period, too."""


def collect(workspace: Workspace, robot: Robot, make_policy: Callable, crank: int = 1) -> Artifact:
    stages = Stages(workspace, Recipe(), seed=0, crank=crank)
    return stages.collect(robot, "excite", Plan(EPISODES, SECONDS, lambda k: make_policy(k)), {})


def episode_files(workspace: Workspace) -> list[Path]:
    return sorted((workspace.folder / "progress").glob("*/*.jsonl"))


def test_robot_seconds_are_episodes_and_resets(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    made = collect(workspace, pretender(), make_policy)
    assert made.figures["robot_seconds"] == pytest.approx(EPISODES * (ROWS * PERIOD_S + RESET_S))
    assert robot_seconds_spent(workspace.store) == made.figures["robot_seconds"]
    assert [len(log) for log in read_logs(made.folder / "logs")] == [ROWS] * EPISODES
    assert [e["episode"] for e in made.figures["episodes"]] == [100, 101, 102]


def test_recording_again_asks_nothing_of_the_robot(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    made, untouched = collect(workspace, pretender(), make_policy), pretender(breaks_after=0)
    assert collect(workspace, untouched, make_policy) == made
    assert untouched.reads == 0


def test_an_interrupted_episode_is_kept_as_aborted_and_counted(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    with pytest.raises(KeyboardInterrupt):
        collect(workspace, pretender(breaks_after=ROWS + 26), make_policy)
    assert workspace.store.all("logs") == []
    made = collect(workspace, pretender(), make_policy)
    (aborted,) = workspace.store.all("aborted")
    (cut_short,) = read_logs(aborted.folder / "logs")
    assert len(cut_short) == 26
    assert aborted.recipe["episode"] == 101
    assert "interrupted" in aborted.figures["reason"]
    assert aborted.figures["robot_seconds"] == pytest.approx(26 * PERIOD_S + RESET_S)
    together = made.figures["robot_seconds"] + aborted.figures["robot_seconds"]
    assert robot_seconds_spent(workspace.store) == pytest.approx(together)


def test_only_what_was_not_finished_is_recorded_again(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    with pytest.raises(KeyboardInterrupt):
        collect(workspace, pretender(breaks_after=ROWS + 26), make_policy)
    rest = pretender()
    collect(workspace, rest, make_policy)
    assert rest.reads == 2 * ROWS


@pytest.mark.parametrize("reads", [0, 1, ROWS - 1, ROWS, 2 * ROWS + 7])
def test_interrupted_recordings_end_as_uninterrupted_ones(
    workspace: Workspace, pretender: Callable, make_policy: Callable, tmp_path: Path, reads: int
) -> None:
    with pytest.raises(KeyboardInterrupt):
        collect(workspace, pretender(breaks_after=reads), make_policy)
    whole = Workspace(workspace.folder)
    whole.store = type(workspace.store)(tmp_path / "whole")
    again = collect(workspace, pretender(), make_policy)
    assert episode_files(workspace) == []
    assert again.content == collect(whole, pretender(), make_policy).content


def test_a_row_written_by_halves_is_left_out(workspace: Workspace, pretender: Callable, make_policy: Callable) -> None:
    with pytest.raises(KeyboardInterrupt):
        collect(workspace, pretender(breaks_after=10), make_policy)
    (file,) = episode_files(workspace)
    file.write_text(file.read_text()[:-20])
    log = EpisodeFile(file, pretender.interface).interrupted()
    assert log is not None
    assert len(log) == 9


def test_an_episode_file_without_rows_is_an_aborted_episode(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    with pytest.raises(KeyboardInterrupt):
        collect(workspace, pretender(breaks_after=0), make_policy)
    collect(workspace, pretender(), make_policy)
    (aborted,) = workspace.store.all("aborted")
    assert aborted.figures["robot_seconds"] == RESET_S


def test_two_interruptions_of_one_episode_are_two_aborted_episodes(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            collect(workspace, pretender(breaks_after=5), make_policy)
    collect(workspace, pretender(), make_policy)
    assert len(workspace.store.all("aborted")) == 2


def test_seconds_are_counted_up_to_a_crank(workspace: Workspace, pretender: Callable, make_policy: Callable) -> None:
    first = collect(workspace, pretender(), make_policy)
    collect(workspace, pretender(), make_policy, crank=2)
    assert robot_seconds_spent(workspace.store, 1) == first.figures["robot_seconds"]
    assert robot_seconds_spent(workspace.store) == 2 * first.figures["robot_seconds"]


def test_another_recipe_of_the_motions_records_anew(
    workspace: Workspace, pretender: Callable, make_policy: Callable
) -> None:
    plan = Plan(1, SECONDS, lambda k: make_policy(k), {"excite": {"share": 0.5}})
    stages = Stages(workspace, Recipe(), seed=0, crank=1)
    stages.collect(pretender(), "excite", plan, {})
    stages.collect(pretender(), "excite", replace(plan, recipe={"excite": {"share": 0.6}}), {})
    assert len(workspace.store.all("logs")) == 2
