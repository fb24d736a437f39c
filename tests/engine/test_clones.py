"""A clone among the candidates: stored with the belief that it belongs to, read back exactly, and used where it is better."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

from gapless.core import Artifact, Chosen, GaplessError, Gaussian, prior_belief
from gapless.engine import Recipe, Stages, Workspace, clones, train_policy
from gapless.engine.clones import Attempt, nearer, taught_clones, try_clone
from gapless.engine.fits import fit_figures
from gapless.engine.parts import write_learned
from gapless.learn import Identified
from gapless.learn.clone_robot import Candidate, Contest, Joined, LearnClone, Pulled
from gapless.learn.clone_robot.pull import Weights
from gapless.learn.held_out import Comparison
from gapless.logs import Parted
from gapless.simulators.neural import MEMBER, CloneSimulator
from gapless.simulators.neural.stored import clones_of_robot
from gapless.simulators.parts import has_residual
from gapless.train import Ppo, Train

BETTER, WORSE = Comparison(0.2, 0.1, 0.6), Comparison(0.2, 0.19, 1.1)


def attempt(prior: Gaussian, held_out: Comparison) -> Attempt:
    """Two members that differ, as if they had been pulled."""
    clone = clones_of_robot("cartpole")[0]
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
    monkeypatch.setattr("gapless.engine.learning.usable", lambda logs: [0, 1])
    for recipe in (Recipe(schedule="fixed"), Recipe(schedule="fixed", clone=True)):
        Stages(workspace, recipe, 0).learn([])
    assert not {"clone", "one_by_one"} & asked[0].keys() and asked[1]["clone"]["members"] == LearnClone().members


def test_a_robot_that_cannot_be_cloned_costs_one_sentence(workspace: Workspace, monkeypatch: Any) -> None:
    def cannot(*args: Any) -> Any:
        raise GaplessError("a clone knows hinges and slides only.")

    monkeypatch.setattr(clones, "taught_clones", cannot)
    known = Candidate(workspace.simulator, prior_belief(workspace.parameters))
    tried = try_clone(workspace, Contest(known, known), Parted([], []), LearnClone(), 0, lambda message: None)
    assert tried.kept is None and tried.says == "No clone was tried: a clone knows hinges and slides only."


def test_the_package_knows_its_own_robots_and_teaches_others_once(workspace: Workspace, monkeypatch: Any) -> None:
    known = taught_clones(workspace, 0, pytest.fail)[0]
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


def test_a_clone_begins_with_the_parameters_that_foretell_better() -> None:
    good, bad = (SimpleNamespace(errors=lambda logs, e=e: np.array([e, e, 9.0])) for e in (0.1, 0.2))
    first: Any = good
    second: Any = bad
    assert nearer(first, second, []) is good and nearer(second, first, []) is good


@pytest.mark.slow
def test_policies_are_trained_checked_and_forecast_in_a_clone(workspace: Workspace) -> None:
    tiny = Train(Ppo(worlds=8, steps=8, epochs=1, minibatches=1, hidden=(8, 1), budget=64), looks=1, worlds=4)
    stages = Stages(workspace, Recipe(checks=2, draws=4, deploy=1, train=tiny), 0, 1)
    belief = learned(workspace, BETTER)
    policy = train_policy(stages, belief, None)
    assert policy.parents["belief"] == belief.id
    assert stages.check(belief, policy).figures["of"] == 2
    assert np.isfinite(stages.forecast(belief, policy).figures["mean"])
