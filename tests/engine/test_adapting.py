"""Adaptations on a robot: every try is recorded and counted, none is lost, and what the robot showed decides."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import equinox as eqx
import jax
import pytest

from gapless.core import Artifact, GaplessError, Robot, prior_belief
from gapless.engine import Begin, Recipe, Stages, Workspace, adapt, cranks, robot_seconds_spent, standing
from gapless.engine.episodes import RESET_S
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.seeing import SeeingPolicy
from gapless.train import Place, Ppo, Train
from gapless.train.adapting import Adapter, Means, Tries, worth

TINY = Train(Ppo(worlds=16, steps=16, epochs=1, minibatches=1, hidden=(8, 1), budget=512), looks=1, worlds=2)
RECIPE = Recipe(checks=2, draws=2, force=True, train=TINY, again=TINY)


@dataclass(frozen=True)
class Scripted(Adapter):
    """Turns the last layer's bias up a notch after every episode, by what the episode was worth, and keeps one of them."""

    word: ClassVar[str] = "scripted"

    episodes: int = 3
    keeps: int = -1
    """Which of the tries is kept."""

    def prepared(self, place: Place, means: Means) -> SeeingPolicy:
        return new_policy(place.simulator.interface, place.task.observe, Shape((4, 1)), means.key)

    def tries(self, prepared: SeeingPolicy, place: Place, means: Means) -> Tries:
        tried = [prepared]
        for _ in range(self.episodes):
            log = yield tried[-1]
            notch = 0.01 * worth(place.task, log) + 0.01 * jax.random.uniform(means.key)
            tried.append(
                eqx.tree_at(lambda p: p.network.layers[-1].bias, tried[-1], replace_fn=lambda b, n=notch: b + n)
            )
        return tried[:-1][self.keeps]


@pytest.fixture
def belief(workspace: Workspace) -> Artifact:
    def build(folder: Path) -> dict:
        (folder / "belief.json").write_text(json.dumps(prior_belief(workspace.parameters).to_dict()))
        return {}

    return workspace.store.make("belief", {}, {"crank": 0}, build)


def adapted(
    workspace: Workspace, robot: Robot, belief: Artifact, way: Adapter, budget_s: float | None = None
) -> Artifact:
    return adapt(Stages(workspace, RECIPE, 0), robot, way, Begin(belief, None, budget_s))


def contents(workspace: Workspace) -> dict[tuple[str, str], str]:
    return {(a.kind, a.id): a.content for a in workspace.store.all() if a.kind != "aborted"}


def test_every_try_is_a_log_and_the_same_command_finds_what_was_made(
    workspace: Workspace, belief: Artifact, pretender: Callable
) -> None:
    made = adapted(workspace, pretender(), belief, Scripted())
    logs, f = workspace.store.all("logs"), made.figures
    assert [a.recipe["purpose"] for a in logs] == ["adapt"] * 3
    assert [t["episode"] for t in f["tries"]] == [0, 1, 2]
    assert f["robot_seconds"] == robot_seconds_spent(workspace.store) == pytest.approx(3 * (5.02 + RESET_S))
    assert (f["method"], f["adapted"]) == ("scripted", True)
    assert made.parents["tried0"] == workspace.store.all("candidate")[-1].id
    assert adapted(workspace, pretender(breaks_after=0), belief, Scripted()) == made
    assert not list((workspace.folder / "progress").iterdir())


def test_a_robot_unplugged_between_or_during_tries_gives_the_same_policy_in_the_end(
    workspace: Workspace, belief: Artifact, pretender: Callable, tmp_path: Path
) -> None:
    other = Workspace(Path(shutil.copytree(workspace.folder, tmp_path / "other")))
    whole = adapted(workspace, pretender(), belief, Scripted())
    for reads in (251, 280):  # after the first episode, and in the middle of the second
        with pytest.raises(KeyboardInterrupt):
            adapted(other, pretender(breaks_after=reads), belief, Scripted())
    again = adapted(other, pretender(), belief, Scripted())
    assert (again.id, again.content) != (whole.id, "")
    assert again.figures["robot_seconds"] > whole.figures["robot_seconds"]  # what was interrupted counts
    assert len(other.store.all("logs")) == 3 and len(other.store.all("aborted")) == 2
    bytes_of = [(a.folder / "policy.safetensors").read_bytes() for a in (whole, again)]
    assert bytes_of[0] == bytes_of[1]
    mine, theirs = contents(other), contents(workspace)
    assert {k: v for k, v in mine.items() if k[0] != "policy"} == {k: v for k, v in theirs.items() if k[0] != "policy"}


def test_the_unadapted_policy_is_kept_where_the_robot_showed_it_better(
    workspace: Workspace, belief: Artifact, pretender: Callable
) -> None:
    made = adapted(workspace, pretender(), belief, Scripted(episodes=2))
    first, last = (t["return"] for t in made.figures["tries"])
    better = "last" if last >= first else "first"
    assert made.figures["adapted"] == (better == "last")
    assert [t["kept"] for t in made.figures["tries"]] == [better == "first", better == "last"]


def test_what_it_showed_when_it_was_tried_counts_for_the_policy(
    workspace: Workspace, belief: Artifact, pretender: Callable
) -> None:
    made = adapted(workspace, pretender(), belief, Scripted())
    # It never passed, and there is nobody else to stand by.
    assert not any(t["passed"] for t in made.figures["tries"])
    assert standing(workspace.store, [made]) == made


def test_nothing_is_begun_past_the_budget_and_a_larger_one_goes_on(
    workspace: Workspace, belief: Artifact, pretender: Callable
) -> None:
    with pytest.raises(GaplessError, match=r"takes up to 10 robot seconds with its reset, and 10 of 15 are spent"):
        adapted(workspace, pretender(), belief, Scripted(), budget_s=15.0)
    assert len(workspace.store.all("logs")) == 1
    rest = pretender()
    made = adapted(workspace, rest, belief, Scripted(), budget_s=31.0)
    assert rest.reads == 2 * 251
    assert len(made.figures["tries"]) == 3


def test_a_policy_that_promises_nothing_is_not_tried(
    workspace: Workspace, belief: Artifact, pretender: Callable
) -> None:
    stages, robot = Stages(workspace, replace(RECIPE, force=False, least=1e6), 0), pretender()
    with pytest.raises(GaplessError, match="forecast"):
        adapt(stages, robot, Scripted(), Begin(belief))
    assert robot.reads == 0


def test_a_robot_of_another_make_is_not_adapted_to(workspace: Workspace, belief: Artifact, fake_robot: Robot) -> None:
    with pytest.raises(GaplessError, match="the workspace and the robot do not fit"):
        adapted(workspace, fake_robot, belief, Scripted())


def test_policies_that_need_no_episode_are_kept_as_they_are(
    workspace: Workspace, belief: Artifact, pretender: Callable
) -> None:
    robot = pretender()
    made = adapted(workspace, robot, belief, Untried())
    assert robot.reads == 0 and made.figures["tries"] == [] and made.figures["robot_seconds"] == 0
    assert isinstance(Stages(workspace, RECIPE, 0).policy(made), NetworkPolicy)


@dataclass(frozen=True)
class Untried(Scripted):
    word: ClassVar[str] = "untried"

    def tries(self, prepared: SeeingPolicy, place: Place, means: Means) -> Tries:
        yield from ()
        return prepared


@pytest.mark.slow
def test_cranks_are_not_turned_anew_for_an_adaptation(
    workspace: Workspace, belief: Artifact, pretender: Callable
) -> None:
    adapted(workspace, pretender(), belief, Scripted(episodes=1))
    turning = cranks(workspace, pretender(breaks_after=0), RECIPE, 0, 1)
    with pytest.raises(KeyboardInterrupt):
        next(turning)
    assert [a.recipe["purpose"] for a in workspace.store.all("logs")] == ["adapt"]
