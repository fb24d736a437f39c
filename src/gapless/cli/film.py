"""`gapless film`: the robot, MuJoCo and a clone side by side."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from gapless.core import Belief, Log, key_for, nominal_belief
from gapless.engine import Recipe, Stages, Workspace, open_workspace
from gapless.logs import read_logs
from gapless.report import shoot_beside, swayed
from gapless.simulators import rollout
from gapless.simulators.neural.stored import SHIPPED, cloned

from .console import say, working
from .options import Common
from .stored import policy_to_use


@dataclass(frozen=True)
class FilmCommand(Common):
    """Film MuJoCo and the robot's clone side by side, put back onto the truth every second; with logs, the robot beside them."""

    workspace: tyro.conf.Positional[Path] = Path()
    """The workspace folder; the current one, or the only one below it, if not given."""
    out: Path = Path("clone.mp4")
    """The film to write."""
    clones: Path | None = None
    """The folder that `gapless clone` wrote; the clones of the package if not given."""
    logs: Path | None = None
    """A folder of logs, of which the longest is shown; without one, MuJoCo shows the workspace's policy, or sways the robot."""

    def run(self) -> dict[str, Any]:
        workspace = open_workspace(self.workspace)
        physics, belief = workspace.simulator, newest_belief(workspace)
        with working("film") as tell:
            clone = cloned(physics, self.clones or SHIPPED)
            tell("asking MuJoCo and the clone, and drawing")
            figures = shoot_beside(physics, clone, self._logs(workspace, belief), belief, self.out)
        say(f"Wrote {self.out}: {figures['shown_s']:.1f} s at {figures['speed']:g} of their speed.")
        return {"film": self.out, **figures}

    def _logs(self, workspace: Workspace, belief: Belief) -> list[Log]:
        if self.logs is not None:
            return [max(read_logs(self.logs), key=len)]
        physics, task, key = workspace.simulator, workspace.task, key_for(self.seed, "film")
        if not workspace.store.all("policy"):
            return swayed(physics, task, belief, key)
        policy = Stages(workspace, Recipe(), self.seed).policy(policy_to_use(workspace))
        return rollout(
            physics.with_worlds(1), {k: np.atleast_1d(v) for k, v in belief.mean().items()}, policy, task, key
        )


def newest_belief(workspace: Workspace) -> Belief:
    """What was learned last, or the data sheet."""
    found = workspace.store.all("belief")
    return Stages(workspace, Recipe(), 0).identified(found[-1]) if found else nominal_belief(workspace.parameters)
