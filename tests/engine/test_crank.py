"""The whole loop on the twin, as small as it gets: what it makes, and what it does not make twice."""

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gapless.core import GaplessError, Robot
from gapless.engine import Recipe, Turn, Workspace, cranks, new_workspace, robot_seconds_spent
from gapless.learn import Attribute, Excite, Identify
from gapless.robots import find_robot
from gapless.train import Ppo, Train

pytestmark = pytest.mark.slow

TINY = Train(Ppo(worlds=16, steps=16, epochs=1, minibatches=1, hidden=(8, 1), budget=512), looks=1, worlds=4)
RECIPE = Recipe(
    schedule="fixed", excite_s=2.0, excite_first=2, deploy=1, checks=2, draws=4, force=True,
    excite=Excite(candidates=4, doubts=2),
    attribute=Attribute(windows=12, ahead=8, iterations=4, draws=1, resamples=50),
    identify=Identify(windows=20, iterations=4), train=TINY, again=TINY,
)  # fmt: skip
TWIN = "twin:cartpole?seed=1"
ONE_TURN = Counter(logs=2, belief=1, gap=1, attribution=1, policy=1, check=1, forecast=1, outcome=1)


class Unplugged(Robot):
    """A robot that nobody may touch."""

    interface = find_robot(TWIN).interface

    def connect(self) -> None:
        raise AssertionError("the robot was asked for")

    def disconnect(self) -> None: ...

    reset = get_observation = send_action = now = wait_until = connect  # pyright: ignore[reportAssignmentType]


def turn(workspace: Workspace, robot: Robot, seed: int = 0) -> Turn:
    (made,) = cranks(workspace, robot, RECIPE, seed, 1)
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Turn]:
    workspace = new_workspace(tmp_path_factory.mktemp("crank") / "cart", "cartpole", "swingup")
    return workspace, turn(workspace, find_robot(TWIN))


@pytest.fixture
def copied(made: tuple[Workspace, Turn], tmp_path: Path) -> Iterator[Workspace]:
    """The workspace after its turn, to be tampered with."""
    yield Workspace(Path(shutil.copytree(made[0].folder, tmp_path / "cart")))


def contents(workspace: Workspace) -> dict[tuple[str, str], str]:
    return {(a.kind, a.id): a.content for a in workspace.store.all()}


def test_a_turn_makes_every_product_with_its_parents(made: tuple[Workspace, Turn]) -> None:
    listed = made[0].store.all()
    assert Counter(a.kind for a in listed) == ONE_TURN
    known = {a.id for a in listed}
    assert all(parent in known for a in listed for parent in a.parents.values())
    assert not (made[0].folder / "progress").exists() or not list((made[0].folder / "progress").iterdir())


def test_a_turn_says_what_it_did(made: tuple[Workspace, Turn]) -> None:
    workspace, done = made
    said = done.figures()
    assert said["crank"] == 1
    assert said["robot_seconds"] == robot_seconds_spent(workspace.store)
    assert said["gap_after"] < said["gap_before"]
    assert said["forecast_low"] <= said["forecast_high"]
    assert said["inside"] == (said["forecast_low"] <= said["return"] <= said["forecast_high"])
    assert said["check"].endswith("/2")
    assert said["verdict"].endswith("/1")
    assert said["policy_of"] == 1 and done.standing == done.policy


def test_the_same_crank_again_makes_nothing_new_and_moves_no_robot(made: tuple[Workspace, Turn]) -> None:
    workspace, done = made
    before = {p: p.stat().st_mtime_ns for p in workspace.store.folder.rglob("*")}
    assert turn(Workspace(workspace.folder), Unplugged()) == done
    assert {p: p.stat().st_mtime_ns for p in workspace.store.folder.rglob("*")} == before


def test_products_that_were_lost_are_made_again_as_they_were(made: tuple[Workspace, Turn], copied: Workspace) -> None:
    for lost in (made[1].check, made[1].outcome, made[1].belief):
        shutil.rmtree(copied.store.folder / lost.folder.name)
    turn(copied, Unplugged())
    assert contents(copied) == contents(made[0])


def test_an_episode_on_the_robot_comes_out_the_same_again(made: tuple[Workspace, Turn], copied: Workspace) -> None:
    deployed = next(a for a in copied.store.all("logs") if a.recipe["purpose"] == "deploy")
    shutil.rmtree(deployed.folder)
    turn(copied, find_robot(TWIN))
    assert contents(copied) == contents(made[0])


def test_a_damaged_product_costs_one_sentence(copied: Workspace) -> None:
    (copied.store.all("policy")[0].folder / "artifact.json").write_text("{")
    with pytest.raises(GaplessError, match="is not the record of an artifact"):
        turn(copied, Unplugged())


def test_a_robot_of_another_make_is_refused(copied: Workspace, fake_robot: Robot) -> None:
    with pytest.raises(GaplessError, match="the workspace and the robot do not fit"):
        turn(copied, fake_robot)
