"""A clone among the candidates of `learn`: taught by MuJoCo once, pulled towards the logs, and used where it foretells better."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gapless.core import GaplessError, Log
from gapless.learn import Learnt, with_residual
from gapless.learn.clone_robot import Candidate, Contest, LearnClone, Pulled, RobotCourse, join, learn_clone
from gapless.logs import Parted
from gapless.simulators import MujocoSimulator
from gapless.simulators.neural import Clone
from gapless.simulators.neural.stored import SHIPPED, cloned, clones_of_robot, load_family, save_family

from .workspace import Workspace

COURSE = RobotCourse(members=1)
"""How a robot is cloned that the package does not know."""
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Attempt:
    """What came of trying a clone."""

    pulled: Pulled | None
    says: str

    @property
    def kept(self) -> Pulled | None:
        """The clone, where it foretells held-out logs better than anything else."""
        return self.pulled if self.pulled is not None and self.pulled.held_out.better else None

    def figures(self) -> dict[str, Any]:
        found = {"name": "clone", "kept": self.kept is not None, "says": self.says}
        if self.pulled is None:
            return found
        held_out = {"held_out_before": self.pulled.held_out.before, "held_out_after": self.pulled.held_out.after}
        return (
            found | held_out | {"ratio_high": self.pulled.held_out.ratio_high, "weights": asdict(self.pulled.weights)}
        )


def try_clone(
    workspace: Workspace, against: Contest, logs: Parted, recipe: LearnClone,
    seed: int, tell: Tell,
) -> Attempt:  # fmt: skip
    """A clone of what was identified, pulled towards the logs; it must beat its rival on those held out."""
    begins = (workspace.task.explore,)
    try:
        taught = taught_clones(workspace, seed, tell)
        pulled = learn_clone(taught, against, logs, begins, recipe, seed, tell)
    except GaplessError as error:
        return Attempt(None, f"No clone was tried: {error}")
    if pulled is None:
        return Attempt(None, "No clone was tried: the logs are too short to pull one towards, or to judge it by.")
    return Attempt(pulled, pulled.sentence())


def beside(physics: MujocoSimulator, learnt: Learnt) -> Candidate:
    """The physics with a residual beside it."""
    return Candidate(with_residual(physics, learnt.residual), learnt.identified.belief)


def nearer(one: Candidate, other: Candidate, logs: list[Log]) -> Candidate:
    """The one that foretells the logs better: where a clone begins, parameters that were refitted beside a residual may be."""
    errors = [np.median(c.errors(logs)) for c in (one, other)]
    return other if errors[1] < errors[0] else one


def taught_clones(workspace: Workspace, seed: int, tell: Tell) -> list[Clone]:
    """Clones of the workspace's model: those of the package where they know it, else taught here, once for the workspace."""
    physics, robot = workspace.simulator, workspace.interface.robot
    try:
        cloned(physics)
        return clones_of_robot(robot, SHIPPED)
    except GaplessError:
        tell("the package has no clone of this robot, teaching one")

    def build(folder: Path) -> dict[str, Any]:
        trunks = [next(iter(clones.values())).trunk for clones in load_family(SHIPPED)]
        found = join(physics, (workspace.task.explore,), COURSE, trunks, seed, tell)
        save_family(folder, [{robot: m.clone} for m in found], taught={robot: physics})
        return {"members": [{"aside": m.aside, "ahead": m.ahead} for m in found]}

    recipe = {"seed": seed, "course": asdict(COURSE), "parameters": [asdict(p) for p in workspace.parameters]}
    made = workspace.store.make("clone", {}, recipe, build)
    return clones_of_robot(robot, made.folder)
