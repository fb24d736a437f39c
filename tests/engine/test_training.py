"""The stage that trains: what is kept of it, what is drawn, and what goes when it is done."""

from pathlib import Path

import jax
import numpy as np
import pytest

from gapless.core import Artifact, Belief, Simulator, Task
from gapless.engine import Recipe, Stages, Workspace, new_workspace, train_policy, training
from gapless.engine.runner_up import RUNNER_UP, runner_up
from gapless.nets.flow_policy import FlowShape, new_flow
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.weights import weights_bytes
from gapless.robots import find_robot
from gapless.tasks import SwingUp
from gapless.train import RECIPES, Along, Train, Trained
from gapless.train.learnt import Learnt, load_learnt


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


@pytest.mark.parametrize(("passed", "begun"), [([0.5, 0.9, 0.2], [0, 1]), ([0.97, 0.9], [0])])
def test_a_first_policy_is_the_best_of_its_beginnings_until_one_is_finished(
    workspace: Workspace, small_policy: NetworkPolicy, monkeypatch: pytest.MonkeyPatch,
    passed: list[float], begun: list[int],
) -> None:  # fmt: skip
    told, values = [], [1.0, 2.0, 0.0]

    def found(simulator: Simulator, belief: Belief, task: Task, recipe: Train, key: object, along: Along) -> Trained:
        told.append(along.beginning)
        k = along.beginning
        return Trained(small_policy, [(1, values[k])], values[k], passed[k], 1, (small_policy,))

    monkeypatch.setattr(training, "train", found)
    made = train_policy(Stages(workspace, Recipe(), 0), None, None)
    assert told == begun
    assert made.figures["return"] == values[begun[-1]] and made.figures["steps"] == len(begun)
    assert not made.figures["afresh"] and made.figures["inset"] is None  # nothing was learned that could be wrong


def test_the_second_best_of_a_training_is_kept_beside_it_and_becomes_a_policy_of_its_own(
    workspace: Workspace, small_policy: NetworkPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_policy(small_policy.interface, SwingUp.observe, Shape((8, 1)), jax.random.key(1))
    by_beginning = [Trained(other, [(1, 1.0)], 1.0, 0.5, 1, ()), Trained(small_policy, [(1, 2.0)], 2.0, 0.9, 1, ())]
    monkeypatch.setattr(training, "train", lambda *given: by_beginning[given[-1].beginning])
    stages = Stages(workspace, Recipe(), 0, 1)
    made = train_policy(stages, None, None)
    second = runner_up(stages, made)
    assert second is not None and second.id == getattr(runner_up(stages, made), "id", None)
    assert (made.figures["return"], second.figures["return"], second.figures["passed"]) == (2.0, 1.0, 0.5)
    assert weights_bytes(stages.policy(made)) == weights_bytes(small_policy)
    assert weights_bytes(stages.policy(second)) == weights_bytes(other)
    assert runner_up(stages, second) is None


def test_a_training_that_did_not_leave_where_it_began_leads_to_no_runner_up(
    workspace: Workspace, small_policy: NetworkPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_place = before(workspace, small_policy, monkeypatch)
    tries = [
        Trained(small_policy, [(0, 9.0), (1, 2.0)], 9.0, 1.0, 1, ()),
        Trained(small_policy, [(1, 8.0)], 8.0, 1.0, 1, ()),
    ]
    monkeypatch.setattr(training, "train", lambda *given: tries[given[-1].beginning])
    made = train_policy(Stages(workspace, Recipe(), 0, crank=2), None, in_place)
    assert made.figures["kept"] == in_place.id
    assert made.figures[RUNNER_UP]["return"] == 8.0  # the one from scratch, which did not win


def before(workspace: Workspace, policy: SeeingPolicy, monkeypatch: pytest.MonkeyPatch) -> Artifact:
    """A policy in place that always passed."""
    monkeypatch.setattr(training, "train", lambda *_: Trained(policy, [(1, 9.0)], 9.0, 1.0, 1, (policy,)))
    return train_policy(Stages(workspace, Recipe(), 0), None, None)


def test_what_a_training_knew_beside_its_policy_goes_on_with_it_and_stays_with_a_policy_that_is_kept(
    workspace: Workspace, small_policy: NetworkPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    knew = Learnt("ppo", ("seen 0",), {"critic": np.arange(3.0)})
    monkeypatch.setattr(training, "train", lambda *_: Trained(small_policy, [(1, 9.0)], 9.0, 1.0, 1, (), knew))
    in_place, begun = train_policy(Stages(workspace, Recipe(), 0), None, None), list[Learnt | None]()

    def worse(simulator: Simulator, belief: Belief, task: Task, recipe: Train, key: object, along: Along) -> Trained:
        begun.append(along.learnt)
        return Trained(small_policy, [(0, 9.0)], 0.0, 0.0, 1, ())

    monkeypatch.setattr(training, "train", worse)
    made = train_policy(Stages(workspace, Recipe(), 0, crank=2), None, in_place)
    further, afresh = begun
    assert further is not None and (further.by, further.known) == ("ppo", ("seen 0",))
    assert afresh is None
    stays = load_learnt(made.folder)
    assert made.figures["kept"] == in_place.id
    assert stays is not None and np.array_equal(stays.arrays["critic"], [0.0, 1.0, 2.0])


@pytest.mark.parametrize("word", ["fpo", "fpo++", "rma"])
def test_a_recipe_that_cannot_go_on_from_the_policy_in_place_begins_anew(
    workspace: Workspace, small_policy: NetworkPolicy, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    in_place, begun, said = before(workspace, small_policy, monkeypatch), [], []

    def found(simulator: Simulator, belief: Belief, task: Task, recipe: Train, key: object, along: Along) -> Trained:
        begun.append((recipe.method.word, along.begin_with))
        return Trained(small_policy, [(1, 0.0)], 0.0, 0.0, 1, (small_policy,))

    monkeypatch.setattr(training, "train", found)
    tell = lambda message, share=None: said.append(message)  # noqa: E731
    made = train_policy(Stages(workspace, Recipe.by(word), 0, tell=tell), None, in_place)
    assert begun == [(word, None)] * 2
    assert made.figures["kept"] is None and "begin_with" not in made.parents  # worse, and yet nothing challenges it
    assert said[0] == "the policy before is of another kind, beginning anew"


def test_recipes_know_whom_they_can_go_on_from(small_policy: NetworkPolicy) -> None:
    interface, key = small_policy.interface, jax.random.key(0)
    kinds = {
        "mlp": small_policy,
        "gru": new_policy(interface, SwingUp.observe, Shape((8, 1), "gru"), key),
        "adapting": new_policy(interface, SwingUp.observe, Shape((8, 1), "adapting"), key),
        "flow": new_flow(interface, SwingUp.observe, FlowShape((8, 1)), key),
    }
    taken = {word: {k for k, policy in kinds.items() if method().takes(policy)} for word, method in RECIPES.items()}
    assert taken == {
        "ppo": {"mlp", "gru", "adapting"}, "distil": {"mlp", "gru", "adapting"}, "rma": {"adapting"},
        "sapg": {"mlp"}, "fast-td3": {"mlp"}, "fast-sac": {"mlp"}, "shac": {"mlp"},
        "fpo": {"flow"}, "fpo++": {"flow"},
        "up-osi": {"mlp", "gru", "adapting"},  # to be better than; it always learns anew
    }  # fmt: skip
