"""A turn of the loop with every word that a policy can be trained by, and how it goes on, as small as they get."""

from pathlib import Path
from typing import Any

import pytest

from gapless.core import GaplessError, Robot
from gapless.engine import Recipe, Stages, Workspace, cranks, new_workspace, train_policy
from gapless.learn import Excite, Identify
from gapless.robots import find_robot
from gapless.train import RECIPES, Ppo, Train

TWIN = "twin:cartpole?seed=1"
SMALL: dict[str, Any] = {"worlds": 8, "steps": 8, "budget": 128}
PASSES: dict[str, Any] = {**SMALL, "epochs": 1, "minibatches": 2}
SETTINGS: dict[str, dict[str, Any]] = {
    "ppo": {**PASSES, "hidden": (8, 1)},
    "sapg": {**PASSES, "hidden": (8, 1)},
    "fast-td3": {**SMALL, "hidden": (8, 1), "remembered": 128},
    "fast-sac": {**SMALL, "hidden": (8, 1), "remembered": 128},
    "fpo": {**PASSES, "hidden": (8, 1)},
    "fpo++": {**PASSES, "hidden": (8, 1)},
    "shac": {**PASSES, "hidden": (8, 1)},
    "distil": {**PASSES, "hidden": (8, 1), "teacher": Ppo(epochs=1, minibatches=2, hidden=(8, 1))},
    "rma": {**PASSES, "base": Ppo(epochs=1, minibatches=2, hidden=(8, 1))},
    "up-osi": {**PASSES, "universal": Ppo(epochs=1, minibatches=2, hidden=(8, 1))},
}


def recipe(word: str) -> Recipe:
    tiny = Train(RECIPES[word](**SETTINGS.get(word, {})), looks=1, worlds=2)
    return Recipe(
        excite_s=2.0, excite_first=2, deploy=1, checks=2, draws=2, force=True, explain=False, wide=1e9,
        excite=Excite(candidates=4, doubts=2), identify=Identify(windows=20, iterations=4), train=tiny, again=tiny,
    )  # fmt: skip


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """All words share the logs and the belief of the first turn: they were made before anything was trained."""
    return new_workspace(tmp_path_factory.mktemp("recipes") / "cart", "cartpole", "swingup")


@pytest.mark.slow
@pytest.mark.parametrize("word", SETTINGS)
def test_a_turn_trains_and_deploys_and_the_next_goes_on(shared: Workspace, word: str) -> None:
    (turn,) = cranks(shared, find_robot(TWIN), recipe(word), 0, 1)
    assert [way["by"] for way in turn.policy.recipe["train"]] == [word]
    assert turn.outcome.figures["of"] == 1
    further = train_policy(Stages(shared, recipe(word), 0, 2), turn.belief, turn.policy)
    assert further.parents["begin_with"] == turn.policy.id
    assert further.figures["steps"] == 2 * SMALL["budget"]  # an unfinished policy goes on with the budget of both


def test_every_word_is_turned_here() -> None:
    assert set(RECIPES) == set(SETTINGS)


class Unmoved(Robot):
    """A robot that must not be asked to move."""

    interface = find_robot("twin:puck?seed=1").interface

    def connect(self) -> None:
        raise AssertionError("the robot was asked to move")

    def disconnect(self) -> None: ...

    reset = get_observation = send_action = now = wait_until = connect  # pyright: ignore[reportAssignmentType]


def test_gradients_through_contacts_are_refused_before_the_robot_moves(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "puck", "puck", "slide")
    with pytest.raises(GaplessError, match="the simulator of 'puck' cannot be compiled: it has contacts"):
        next(cranks(workspace, Unmoved(), recipe("shac"), 0, 1))
