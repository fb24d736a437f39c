"""What a crank does when every second is decided: scripted gains, artifacts without physics, and the seconds that are spent."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gapless.core import Artifact, GaplessError
from gapless.engine import Recipe, Stages, Turn, Workspace, next_best
from gapless.engine.incumbent import KEPT, standing
from gapless.engine.next_best import next_best as turned
from gapless.engine.offers import Moment
from gapless.engine.options import Kind, Option
from gapless.engine.runner_up import RUNNER_UP, contenders
from gapless.engine.sending import Ready

SECONDS: dict[Kind, float] = {"excite": 11.0, "deploy": 10.0, "adapt": 100.0, "part": 0.0, "retrain": 0.0}


class Scripted(Stages):
    """Makes artifacts of nothing, with their parents and their robot seconds."""

    def made(self, kind: str, parents: dict[str, str], figures: dict[str, Any], **recipe: Any) -> Artifact:
        named = {"crank": self.crank, **recipe}
        return self.workspace.store.make(kind, parents, named, lambda folder: figures)

    def excite(self, robot: Any, belief: Any, episodes: int, after: int = 0, ready: Any = None) -> Artifact:
        figures = {"robot_seconds": 11.0 * episodes, "episodes": [{}] * episodes}
        return self.made("logs", {}, figures, purpose="excite", first=after)

    def learn(self, logs: list[Artifact]) -> Artifact:
        residual = {} if self.recipe.parts else None
        return self.made("belief", {f"logs{k}": a.id for k, a in enumerate(logs)}, {}, residual=residual)

    def gap(self, belief: Any, logs: list[Artifact]) -> Artifact:
        return self.made("gap", {"belief": belief.id}, {"summary": {"before": 1.0, "after": 0.1}})

    def deploy(self, robot: Any, policy: Artifact, forecast: Any, under: Any = None, after: int = 0) -> Artifact:
        shows = policy.figures.get("shows", 1.0)
        episodes = [{"return": shows, "passed": shows >= 1.0}] * self.recipe.deploy
        figures = {"robot_seconds": 10.0 * len(episodes), "episodes": episodes}
        return self.made("logs", {"policy": policy.id}, figures, purpose="deploy", first=after)

    def outcome(self, forecast: Artifact, deployed: Artifact) -> Artifact:
        return self.made("outcome", {"logs": deployed.id}, {"return": 1.0, "inside": True})


@pytest.fixture
def crank(workspace: Workspace, pretender: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Turn]]:
    """Cranks of which each decision finds these gains, in turn; the last are found ever after."""

    def run(
        *script: dict[Kind, float], count: int = 1, again: float = 0.0, keeps: bool = False,
        shows: tuple[float, float] | None = None, refused: str = "", **recipe: Any,
    ) -> Any:  # fmt: skip
        """`shows`: what a policy and its runner-up show on the robot, unless that is refused; without it, there is none."""
        asked = iter(script)
        gains: list[dict[Kind, float]] = [{}]

        def offers(moment: Moment) -> list[Option]:
            gains[0] = next(asked, gains[0])
            allowed = {"excite": moment.may_excite, "part": moment.stages.recipe.parts and not moment.with_part}
            found: dict[Kind, float] = {"retrain": moment.taught, **gains[0]}
            return [Option(k, s, found.get(k, 0.0), "", allowed.get(k, True)) for k, s in SECONDS.items()]

        def trained(stages: Scripted, belief: Artifact, begin: Artifact | None) -> Artifact:
            kept = begin.id if begin is not None and keeps else None
            figures = {KEPT: kept} | ({} if shows is None else {"shows": shows[0], RUNNER_UP: {}})
            return stages.made("policy", {"belief": belief.id}, figures, begin=begin and begin.id)

        def second(stages: Scripted, policy: Artifact) -> Artifact:
            assert shows is not None
            return stages.made("policy", {"best": policy.id}, {KEPT: None, "shows": shows[1]}, **{RUNNER_UP: True})

        def instead(policy: Artifact, looked: None, seconds: float) -> Option:
            return Option("runner-up", 10.0, 1.0 - policy.figures["shows"], "")

        def ready(stages: Scripted, belief: Artifact, policy: Artifact, *_: Any) -> Ready:
            second = RUNNER_UP in policy.recipe
            if refused == "scenario" and second:
                raise GaplessError("it lost a scenario")
            promised = {"low": 0.0, "mean": 0.0 if refused == "forecast" and second else 1.0, "still": 0.0}
            check, forecast = (stages.made(k, {"policy": policy.id}, promised) for k in ("check", "forecast"))
            return Ready(policy, check, forecast, None, None)

        def adapted(stages: Scripted, robot: Any, adapter: Any, begin: Any) -> Artifact:
            logs = stages.made("logs", {}, {"robot_seconds": 10.0, "episodes": [{}]}, purpose="adapt")
            figures = {KEPT: None, "tries": [{}]}
            return stages.made("policy", {"logs0": logs.id, "begin_with": begin.in_place.id}, figures, adapt=True)

        monkeypatch.setattr(Moment, "offers", offers)
        monkeypatch.setattr(next_best, "adapt", adapted)
        monkeypatch.setattr(next_best, "outlook", lambda *_: None)
        monkeypatch.setattr(next_best, "once_more", lambda *_: Option("deploy", 10.0, again, ""))
        monkeypatch.setattr(next_best, "instead", instead)
        monkeypatch.setattr(next_best, "runner_up", second)
        monkeypatch.setattr(next_best, "train_policy", trained)
        monkeypatch.setattr(next_best, "readied", ready)
        monkeypatch.setattr(next_best, "_teaches", lambda logs: True)
        settings = Recipe(explain=False, **recipe)
        return list(turned((Scripted(workspace, settings, 0, k) for k in range(1, count + 1)), pretender(), []))

    return run


def spent(turns: list[Turn]) -> list[float]:
    return [turn.robot_seconds for turn in turns]


def test_the_first_crank_records_one_motion_and_one_episode_where_that_suffices(crank: Callable) -> None:
    (turn,) = crank({"retrain": 1.0})
    assert turn.robot_seconds == 21.0
    assert [d.figures["taken"] for d in turn.decisions] == [["excite"], ["retrain"], []]


def test_a_second_motion_is_chosen_under_the_first_ones_belief_where_it_is_worth_it(crank: Callable) -> None:
    (turn,) = crank({"excite": 0.1, "retrain": 1.0}, {"excite": 0.1, "retrain": 1.0})
    assert turn.robot_seconds == 32.0
    assert [d.figures["taken"] for d in turn.decisions] == [["excite"], ["excite"], ["retrain"], []]
    assert "belief" in turn.decisions[1].parents and "belief" not in turn.decisions[0].parents


def test_there_are_never_more_motions_before_the_first_policy_than_the_recipe_allows(crank: Callable) -> None:
    (turn,) = crank({"excite": 0.5, "retrain": 1.0}, excite_first=1)
    assert turn.robot_seconds == 21.0


def test_a_policy_goes_to_the_robot_again_only_where_that_is_worth_it(crank: Callable) -> None:
    (turn,) = crank({"retrain": 1.0}, again=0.2)
    assert [a.recipe["first"] for a in turn.deployed] == [0, 1]
    assert turn.robot_seconds == 31.0


def test_nothing_worth_a_second_is_a_turn_that_spends_none(crank: Callable) -> None:
    turns = crank({"retrain": 1.0}, {"excite": 0.005, "deploy": 0.009}, count=3)
    assert spent(turns) == [21.0, 21.0, 21.0]
    assert [t.crank for t in turns] == [1, 2, 3]
    assert turns[2].deployed == () and turns[2].policy == turns[0].policy
    assert "nothing is worth a robot second" in turns[2].decisions[0].figures["why"]
    assert turns[2].standing == turns[0].policy


def test_a_deployment_is_learned_from_and_nothing_is_learned_twice(crank: Callable) -> None:
    turns = crank({"retrain": 1.0}, {}, count=3)
    assert turns[1].belief != turns[0].belief  # the deployment came after the first fit
    assert turns[2].belief == turns[1].belief


def test_a_motion_of_a_later_crank_is_used_by_a_training(crank: Callable) -> None:
    turns = crank({"retrain": 1.0}, {"excite": 0.1}, count=2)
    assert [d.figures["taken"] for d in turns[1].decisions] == [["excite"], ["retrain"], []]
    assert spent(turns) == [21.0, 42.0]


def test_a_policy_that_was_kept_does_not_go_to_the_robot_again(crank: Callable) -> None:
    turns = crank({"retrain": 1.0}, count=2, keeps=True)
    assert spent(turns) == [21.0, 21.0]
    assert turns[1].policy.figures[KEPT] == turns[0].policy.id


def test_a_part_is_learned_where_it_promises_and_stays_from_then_on(crank: Callable) -> None:
    turns = crank({"part": 0.3, "retrain": 1.0}, {"retrain": 0.5}, count=2, parts=True)
    assert turns[0].belief.recipe["residual"] == {} == turns[1].belief.recipe["residual"]


def test_a_part_that_promises_nothing_is_not_tried(crank: Callable) -> None:
    (turn,) = crank({"retrain": 1.0}, parts=True)
    assert turn.belief.recipe["residual"] is None


def test_the_policy_in_place_may_go_again_without_a_training(crank: Callable) -> None:
    turns = crank({"retrain": 1.0}, {"deploy": 0.1}, count=2)
    assert spent(turns) == [21.0, 31.0]
    assert turns[1].policy == turns[0].policy


def test_an_adaptation_is_learned_from_and_its_policy_goes_to_the_robot(crank: Callable) -> None:
    turns = crank({"retrain": 1.0}, {"adapt": 0.5}, {}, count=3, adapt="simopt")
    assert spent(turns) == [21.0, 41.0, 41.0]
    assert turns[1].policy.recipe["adapt"] is True and turns[1].policy.parents["begin_with"] == turns[0].policy.id
    assert turns[1].policy.parents["logs0"] in turns[2].belief.parents.values()


def test_the_same_cranks_again_decide_and_record_nothing_new(crank: Callable, workspace: Workspace) -> None:
    first = crank({"excite": 0.1, "retrain": 1.0}, {"retrain": 1.0}, {"excite": 0.2}, count=3)
    known = {a.id for a in workspace.store.all()}
    again = crank({"excite": 9.0}, count=3)
    assert {a.id for a in workspace.store.all()} == known
    assert again == first


@pytest.mark.parametrize("stops", range(1, 12))
def test_killed_after_any_artifact_it_goes_on_as_if_it_had_not_been(
    crank: Callable, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stops: int
) -> None:
    script = {"excite": 0.1, "retrain": 1.0}
    whole = {a.id for turn in crank(script, count=2, again=0.2) for a in workspace.store.all()}
    workspace.store = type(workspace.store)(tmp_path / "killed")
    make, made = type(workspace.store).make, []

    def counted(*arguments: Any) -> Artifact:
        made.append(make(*arguments))
        if len(made) == stops:
            raise KeyboardInterrupt
        return made[-1]

    monkeypatch.setattr(type(workspace.store), "make", counted)
    with pytest.raises(KeyboardInterrupt):
        crank(script, count=2, again=0.2)
    monkeypatch.setattr(type(workspace.store), "make", make)
    crank(script, count=2, again=0.2)
    assert {a.id for a in workspace.store.all()} == whole


@pytest.mark.parametrize(("shows", "stands"), [((0.2, 0.9), 1), ((0.2, 0.1), 0)])
def test_who_fell_short_is_held_against_its_runner_up_and_who_showed_more_stands(
    crank: Callable, shows: tuple[float, float], stands: int
) -> None:
    (turn,) = crank({"retrain": 1.0}, shows=shows)
    assert [d.figures["taken"] for d in turn.decisions] == [["excite"], ["retrain"], ["runner-up"], []]
    assert [a.figures["episodes"][0]["return"] for a in turn.deployed] == [*shows]
    assert turn.policy.figures["shows"] == shows[stands] and turn.standing == turn.policy
    assert turn.outcome.parents["logs"] == turn.deployed[stands].id
    assert turn.robot_seconds == 31.0


def test_nobody_asks_for_the_runner_up_of_a_policy_that_went_as_simulated(crank: Callable) -> None:
    (turn,) = crank({"retrain": 1.0}, shows=(1.0, 2.0))
    assert [d.figures["taken"] for d in turn.decisions] == [["excite"], ["retrain"], []]
    assert turn.robot_seconds == 21.0


@pytest.mark.parametrize("why", ["scenario", "forecast"])
def test_a_runner_up_that_may_not_go_to_the_robot_stays_at_home(
    crank: Callable, workspace: Workspace, why: str
) -> None:
    (turn,) = crank({"retrain": 1.0}, shows=(0.2, 0.9), refused=why)
    assert turn.robot_seconds == 21.0 and turn.policy.figures["shows"] == 0.2
    assert len(workspace.store.all("policy")) == 2
    assert contenders(workspace.store) == [turn.policy]


@pytest.mark.parametrize("shows", [(0.2, 0.9), (0.2, 0.1)])
def test_whoever_comes_later_finds_them_in_the_order_in_which_they_did(
    crank: Callable, workspace: Workspace, shows: tuple[float, float]
) -> None:
    (turn,) = crank({"retrain": 1.0}, shows=shows)
    assert [p.figures["shows"] for p in contenders(workspace.store)] == sorted(shows)
    assert standing(workspace.store, contenders(workspace.store)) == turn.standing
