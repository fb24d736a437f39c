"""What every method of the judge begins with: a robot's task, a workspace of its data sheet, and how much may be trained."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gapless.core import Artifact, Robot
from gapless.engine import Recipe, Stages, Workspace, new_workspace
from gapless.engine.parts import write_learned
from gapless.engine.runner_up import RUNNER_UP
from gapless.robots import find_robot
from gapless.train import Ppo, Train

TASKS = {"cartpole": "swingup", "furuta": "rotary-swingup", "puck": "slide", "arm": "hold-load", "hopper": "hop"}
BRIEF_S = {"hopper": 0.8}
"""Robots that fall when nobody balances them: how long a motion that teaches may be, and there are more of them."""
CRANKS = 3


@dataclass(frozen=True)
class Beginning:
    """A workspace of the nominal model and its task, and the robot behind its verbs: all that a method gets."""

    spec: str
    workspace: Workspace
    recipe: Recipe
    seed: int

    def robot(self) -> Robot:
        """The robot, at a distance."""
        return find_robot(self.spec)

    def stages(self, recipe: Recipe | None = None) -> Stages:
        """The verbs of the first crank."""
        return Stages(self.workspace, recipe or self.recipe, self.seed, 1)

    def identified(self, robot: Robot) -> Artifact:
        """What a first crank believes after its motions, without learned parts."""
        stages = self.stages(replace(self.recipe, parts=False))
        return stages.learn([stages.excite(robot, None, self.recipe.excite_first)])

    def prior(self) -> Artifact:
        """What the data sheet leaves in doubt, which costs no robot seconds."""
        stages = self.stages()

        def build(folder: Path) -> dict[str, Any]:
            write_learned(folder, stages.prior(), None, None, self.workspace.simulator)
            return {}

        return self.workspace.store.make("belief", {}, {"crank": 0, "seed": self.seed, "prior": True}, build)


@contextmanager
def beginning(setting: dict[str, Any]) -> Iterator[Beginning]:
    """A workspace that is gone afterwards; `setting` names robot, seed and tier, and whether it is to be quick."""
    robot, seed = setting["robot"], setting["seed"]
    with tempfile.TemporaryDirectory(prefix="methods-") as folder:
        workspace = new_workspace(Path(folder) / "workspace", robot, TASKS[robot], seed)
        recipe = replace(brief(quick(Recipe()) if setting["quick"] else Recipe(), robot), force=True, explain=False)
        yield Beginning(f"twin:{robot}?seed={seed}&tier={setting['tier']}", workspace, recipe, seed)


def most_steps(recipe: Recipe) -> int:
    """Steps of nominal and cranks together, had none of them stopped early."""
    return recipe.train.method.budget + crank_steps(recipe)


def crank_steps(recipe: Recipe) -> int:
    """Steps of the cranks alone, likewise: what any other method may train in all."""
    first, later = (_budget(recipe.ways(further)) for further in (False, True))
    return first + (CRANKS - 1) * later


def _budget(ways: list[tuple[Train, bool]]) -> int:
    return sum(way.method.budget for way, _ in ways)


def trained_steps(workspace: Workspace) -> int:
    """Steps of all trainings of a workspace, each counted once, whatever came of it."""
    policies = workspace.store.all("policy")
    return sum(a.figures["steps"] for a in policies if RUNNER_UP not in a.recipe)


def at_once(recipe: Recipe) -> Recipe:
    """The same for a method that trains once: with the steps of all cranks, and looks as close to each other."""
    return replace(recipe, train=_with_budget(recipe.train, crank_steps(recipe)))


def in_rounds(recipe: Recipe, rounds: int) -> Recipe:
    """The same for a method that trains further in rounds, which share the steps that are left after the first training."""
    left = crank_steps(recipe) - recipe.train.method.budget
    return replace(recipe, again=_with_budget(recipe.again, left // rounds))


def _with_budget(way: Train, budget: int) -> Train:
    looks = max(1, round(way.looks * budget / way.method.budget))
    return replace(way, method=replace(way.method, budget=budget), looks=looks)


def brief(recipe: Recipe, robot: str) -> Recipe:
    """The same with motions as short as the robot needs them, and twice as many before the first fit."""
    if robot not in BRIEF_S:
        return recipe
    return replace(recipe, excite_s=BRIEF_S[robot], excite_first=2 * recipe.excite_first)


def quick(recipe: Recipe) -> Recipe:
    """The same thing, smaller."""
    return replace(recipe, train=Train(Ppo(budget=120_000), looks=3), again=Train(Ppo(budget=40_000), looks=2))
