"""A clone among the candidates: stored with the belief that it belongs to, read back exactly, and used where it is better."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from gapless.core import Artifact, Chosen, GaplessError, Gaussian, Log, prior_belief
from gapless.engine import Recipe, Stages, Workspace, clones
from gapless.engine.clones import Attempt, taught_clones, try_clone
from gapless.engine.fits import fit_figures
from gapless.engine.parts import write_learned
from gapless.learn import Excite, Identified, Identify
from gapless.learn.clone_robot import Candidate, Joined, LearnClone, Pulled, Teach
from gapless.learn.clone_robot.pull import Pull, Weights
from gapless.learn.held_out import Comparison
from gapless.robots import find_robot
from gapless.simulators.neural import MEMBER, CloneSimulator
from gapless.simulators.neural.stored import clones_of_robot
from gapless.simulators.parts import has_residual
from gapless.train import Ppo, Train

BETTER, WORSE = Comparison(0.2, 0.1, 0.6), Comparison(0.2, 0.19, 1.1)


def attempt(prior: Gaussian, held_out: Comparison) -> Attempt:
    """Two members that differ, as if they had been pulled."""
    (clone,) = clones_of_robot("cartpole")
    other = jax.tree.map(lambda w: 1.01 * w, clone)
    pulled = Pulled((clone, other), Chosen(prior, MEMBER, 2), Weights(10.0, 0.3, True), held_out)
    return Attempt(pulled, pulled.sentence())


def learned(workspace: Workspace, held_out: Comparison) -> Artifact:
    prior = prior_belief(workspace.parameters)
    tried, found = attempt(prior, held_out), Identified(prior, 20.0, 20.0, {}, 1, 1, "by hand")

    def build(folder: Path) -> dict[str, Any]:
        write_learned(folder, prior, None, tried, workspace.simulator)
        return fit_figures(workspace.parameters, found, None, tried)

    return workspace.store.make("belief", {}, {"crank": 0}, build)


def test_a_better_clone_is_the_simulator_of_its_belief_to_the_last_bit(workspace: Workspace) -> None:
    belief, stages = learned(workspace, BETTER), Stages(workspace, Recipe(), 0)
    simulator = stages.simulator(belief)
    assert isinstance(simulator, CloneSimulator) and simulator.members == 2
    kept = attempt(prior_belief(workspace.parameters), BETTER).kept
    assert kept is not None
    for stored, given in zip(clones_of_robot("cartpole", belief.folder), kept.members, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, (stored, given)), strict=True))
    assert belief.figures["parts"][0]["held_out_after"] == BETTER.after and belief.figures["clone"]["kept"]


def test_its_belief_draws_members_and_motions_are_chosen_without_it(workspace: Workspace) -> None:
    belief, stages = learned(workspace, BETTER), Stages(workspace, Recipe(), 0)
    assert set(np.asarray(stages.belief(belief).sample(jax.random.key(0), 50)[MEMBER]).tolist()) == {0.0, 1.0}
    assert MEMBER not in stages.identified(belief).names and MEMBER not in stages.known(belief).names


def test_a_clone_that_is_no_better_leaves_the_physics_in_place(workspace: Workspace) -> None:
    belief, stages = learned(workspace, WORSE), Stages(workspace, Recipe(), 0)
    assert stages.simulator(belief) is workspace.simulator
    assert stages.belief(belief).names == stages.identified(belief).names
    assert not belief.figures["clone"]["kept"] and "refused" in belief.figures["clone"]["says"]
    assert belief.figures["parts"] == [] and not has_residual(belief.folder)


def test_a_recipe_without_a_clone_has_the_same_products_as_before(workspace: Workspace, monkeypatch: Any) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(type(workspace.store), "make", lambda self, kind, parents, recipe, build: asked.append(recipe))
    monkeypatch.setattr("gapless.engine.stages.usable", lambda logs: [0, 1])
    for recipe in (Recipe(), Recipe(clone=True)):
        Stages(workspace, recipe, 0).learn([])
    assert "clone" not in asked[0] and asked[1]["clone"]["members"] == LearnClone().members


def test_a_robot_that_cannot_be_cloned_costs_one_sentence(workspace: Workspace, monkeypatch: Any) -> None:
    def cannot(*args: Any) -> Any:
        raise GaplessError("a clone knows hinges and slides only.")

    monkeypatch.setattr(clones, "taught_clones", cannot)
    known = Candidate(workspace.simulator, prior_belief(workspace.parameters))
    logs: tuple[list[Log], list[Log]] = ([], [])
    tried = try_clone(workspace, (known, known), logs, LearnClone(), 0, lambda message: None)
    assert tried.kept is None and tried.says == "No clone was tried: a clone knows hinges and slides only."


def test_the_package_knows_its_own_robots_and_teaches_others_once(workspace: Workspace, monkeypatch: Any) -> None:
    (known,) = taught_clones(workspace, 0, pytest.fail)
    taught: list[str] = []

    def join(physics: Any, begins: Any, course: Any, trunks: Any, seed: int, tell: Any) -> list[Any]:
        taught.append(physics.interface.robot)
        return [Joined(known, 0.1, {"slider": 0.1})]

    def unknown(physics: Any, *args: Any) -> Any:
        raise GaplessError("the clone was taught another robot.")

    monkeypatch.setattr(clones, "join", join)
    monkeypatch.setattr(clones, "cloned", unknown)
    found = [taught_clones(workspace, 0, lambda message: None)[0] for _ in range(2)]
    assert taught == ["cartpole"]
    assert all(np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, (found[1], known)), strict=True))


@pytest.mark.slow
def test_learn_tries_a_clone_and_everything_goes_on_in_it(workspace: Workspace, monkeypatch: Any) -> None:
    """A clone is made to look better, so that what follows can be seen."""
    monkeypatch.setattr(Comparison, "better", True)
    robot, pull = find_robot("twin:cartpole?seed=1&tier=C"), Pull(rounds=1, steps=4, windows=4, stretches=8, unroll=2)
    small = LearnClone(windows=8, replay=Teach(40, 4, 40), replays=(3.0,), contrasts=(0.0,), pull=pull, worth=0.0)
    tiny = Train(Ppo(worlds=16, steps=16, epochs=1, minibatches=1, hidden=(8, 1), budget=256), looks=1, worlds=4)
    recipe = Recipe(
        excite_s=2.5, checks=2, draws=4, clone=True, pull=small, preflight=False, train=tiny,
        excite=Excite(candidates=4, doubts=2), identify=Identify(windows=12, iterations=2),
    )  # fmt: skip
    stages = Stages(workspace, recipe, 0, 1)
    logs = [stages.excite(robot, None, 2)]
    robot.disconnect()
    belief = stages.learn(logs)
    assert belief.figures["clone"]["kept"] and isinstance(stages.simulator(belief), CloneSimulator)
    assert stages.gap(belief, logs).figures["summary"]["after"] > 0
    policy = stages.train(belief, None)
    assert stages.check(belief, policy).figures["of"] == 2
    assert np.isfinite(stages.forecast(belief, policy).figures["mean"])
