"""The whole loop on the twin with every second decided, as small as it gets: what is decided, and what is not made twice."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from gapless.engine import Recipe, Turn, Workspace, cranks, new_workspace, robot_seconds_spent
from gapless.learn import Attribute, Excite, Identify
from gapless.robots import find_robot
from gapless.train import Ppo, Train

pytestmark = pytest.mark.slow

TINY = Train(Ppo(worlds=16, steps=16, epochs=1, minibatches=1, hidden=(8, 1), budget=512), looks=1, worlds=4)
RECIPE = Recipe(
    excite_s=2.0, checks=2, draws=4, force=True, explain=False, excite=Excite(candidates=4, doubts=2),
    attribute=Attribute(windows=12, ahead=8, iterations=4, draws=1, resamples=50),
    identify=Identify(windows=20, iterations=4), train=TINY, again=TINY,
)  # fmt: skip
TWIN = "twin:cartpole?seed=1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, list[Turn]]:
    workspace = new_workspace(tmp_path_factory.mktemp("next") / "cart", "cartpole", "swingup")
    return workspace, list(cranks(workspace, find_robot(TWIN), RECIPE, 0, 2))


def test_every_crank_says_why_it_spent_what_it_spent(made: tuple[Workspace, list[Turn]]) -> None:
    workspace, turns = made
    assert turns[0].decisions[0].figures["why"].endswith("nothing is known of the robot yet")
    weighed = turns[1].decisions[0].figures["options"]
    assert [o["kind"] for o in weighed] == ["excite", "deploy", "part", "adapt", "retrain"]
    assert all(o["why"] and o["gain"] is not None for o in weighed)
    assert turns[1].robot_seconds == robot_seconds_spent(workspace.store)
    assert turns[1].figures()["why"] == [d.figures["why"] for d in turns[1].decisions]


def test_one_motion_is_recorded_at_a_time(made: tuple[Workspace, list[Turn]]) -> None:
    recorded = [a for a in made[0].store.all("logs") if a.recipe["crank"] == 1]
    assert all(a.recipe["episodes"] == 1 for a in recorded)
    assert len({a.recipe["first"] for a in recorded}) == len(recorded)
    motions = [a for a in recorded if a.recipe["purpose"] == "excite"]
    assert "belief" not in motions[0].parents and all("belief" in a.parents for a in motions[1:])


def test_products_that_were_lost_are_made_again_as_they_were(
    made: tuple[Workspace, list[Turn]], tmp_path: Path
) -> None:
    workspace, turns = made
    copied = Workspace(Path(shutil.copytree(workspace.folder, tmp_path / "cart")))
    for lost in (*turns[1].decisions, turns[0].decisions[1], turns[0].outcome):
        shutil.rmtree(copied.store.folder / lost.folder.name)
    list(cranks(copied, find_robot(TWIN), RECIPE, 0, 2))
    assert {(a.id, a.content) for a in copied.store.all()} == {(a.id, a.content) for a in workspace.store.all()}


def test_the_fixed_schedule_decides_nothing(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "fixed", "cartpole", "swingup")
    (turn,) = cranks(workspace, find_robot(TWIN), replace(RECIPE, schedule="fixed"), 0, 1)
    assert turn.decisions == () and workspace.store.all("decision") == []
    assert [a.recipe["episodes"] for a in workspace.store.all("logs")] == [2, 2]
