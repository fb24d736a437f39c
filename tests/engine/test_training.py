"""The stage that trains: what is kept of it, what is drawn, and what goes when it is done."""

from pathlib import Path

import jax
import pytest

from gapless.core import Belief, Simulator, Task
from gapless.engine import Recipe, Stages, Workspace, new_workspace, train_policy, training
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.robots import find_robot
from gapless.tasks import SwingUp
from gapless.train import Along, Train, Trained


@pytest.fixture
def small_policy() -> NetworkPolicy:
    return new_policy(find_robot("twin:cartpole").interface, SwingUp.observe, Shape((8, 1)), jax.random.key(0))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path / "cart", "cartpole", "swingup")


def test_a_training_draws_its_curves_and_leaves_no_checkpoint_when_it_is_done(
    workspace: Workspace, small_policy: NetworkPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Path] = []

    def found(simulator: Simulator, belief: Belief, task: Task, recipe: Train, key: object, along: Along) -> Trained:
        assert along.checkpoint is not None
        kept.append(along.checkpoint.folder)
        along.checkpoint.folder.mkdir(parents=True)
        along.tell(100, {"return": 1.5, "reward": 0.1})
        return Trained(small_policy, [(100, 1.5)], 1.5, 1.0, 100, (small_policy,))

    monkeypatch.setattr(training, "train", found)
    made = train_policy(Stages(workspace, Recipe(), 0), None, None)
    assert made.recipe["train"][0]["by"] == "ppo"
    assert made.figures["return"] == 1.5 and made.figures["solved"]
    (events,) = (workspace.folder / "curves").rglob("*tfevents*")
    assert b"return" in events.read_bytes()
    assert made.id in kept[0].parent.name and not kept[0].exists()


def test_another_recipe_is_another_training(
    workspace: Workspace, small_policy: NetworkPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "train", lambda *_: Trained(small_policy, [(1, 0.0)], 0.0, 0.0, 1, (small_policy,)))
    one = train_policy(Stages(workspace, Recipe(), 0), None, None)
    same = train_policy(Stages(workspace, Recipe(curves="tensorboard"), 0), None, None)
    other = train_policy(Stages(workspace, Recipe(train=Train(looks=3)), 0), None, None)
    assert one.id == same.id != other.id
