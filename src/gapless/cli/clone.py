"""`gapless clone`: teach a network to step the workspace's robot as MuJoCo does."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tyro

from gapless.core.artifact import plain
from gapless.engine import open_workspace
from gapless.learn.clone_robot import RobotCourse, join
from gapless.simulators.neural import Trunk
from gapless.simulators.neural.ancestor import Ancestor, load_ancestor
from gapless.simulators.neural.stored import SHIPPED, load_family, save_family

from .console import say, table, working
from .options import Common


@dataclass(frozen=True)
class CloneRobotCommand(Common):
    """Clone the workspace's robot into a network that steps it as MuJoCo does, over everything that its parameters may be.

    MuJoCo plays exciting motions from wherever the robot may come; the network begins from a trunk that other robots have taught.
    Several independent members say by how much they disagree. Policies train in the clone by the same call as in MuJoCo.
    """

    workspace: tyro.conf.Positional[Path] = Path()
    """The workspace folder; the current one, or the only one below it, if not given."""
    out: Path = field(kw_only=True)
    """The folder to write robots.safetensors and robots.json to."""
    trunk: Path | None = None
    """Folder of the clones whose trunk it begins with; those of the package if not given."""
    ancestor: bool = False
    """Inherit from the ancestor in that folder instead: then few lessons teach it, if it has three joints at most."""
    scratch: bool = False
    """Begin with nothing instead."""
    course: RobotCourse = field(default_factory=RobotCourse)
    """How it is taught."""

    def run(self) -> dict[str, Any]:
        began, workspace = time.perf_counter(), open_workspace(self.workspace)
        physics, robot = workspace.simulator, workspace.interface.robot
        with working("clone") as tell:
            found = join(physics, (workspace.task.explore,), self.course, self._firsts(), self.seed, tell)
        seconds = time.perf_counter() - began
        said = plain({"course": asdict(self.course), "seed": self.seed, "seconds": seconds})
        save_family(self.out, [{robot: m.clone} for m in found], said, {robot: physics})
        columns = ["member", "lessons set aside", *physics.joints]
        rows = [[k + 1, m.aside, *m.ahead.values()] for k, m in enumerate(found)]
        table(f"{robot}: loss, and median error of each joint after 25 periods in open loop", columns, rows)
        say(f"Wrote {self.out} after {seconds / 60:.1f} minutes.")
        errors = [{"aside": m.aside, "ahead": m.ahead} for m in found]
        return {"folder": self.out, "robot": robot, "seconds": seconds, "members": errors}

    def _firsts(self) -> Sequence[Trunk | Ancestor]:
        """What members begin with."""
        if self.scratch:
            return []
        folder = self.trunk or SHIPPED
        if self.ancestor:
            return [load_ancestor(folder)]
        return [next(iter(m.values())).trunk for m in load_family(folder)]
