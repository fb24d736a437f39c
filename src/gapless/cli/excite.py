"""`gapless excite`: the next motion as a file, and what it is expected to teach."""

import csv
import io
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gapless.core import GaplessError, Interface, key_for, unstack
from gapless.core.artifact import write_text
from gapless.engine import contenders
from gapless.learn import Design, Wanted, design
from gapless.robots import find_robot

from .console import say, table, working
from .options import InWorkspace
from .stored import newest_belief


@dataclass(frozen=True)
class ExciteCommand(InWorkspace):
    """What should the robot do next? The motion that teaches most, inside the limits, as a file of commands with their times.

    The commands stay inside the limits in every simulation that the belief allows, played as they are. Around a policy, the file
    holds what to add to the policy's commands. `gapless collect` chooses such motions by itself and records them.
    """

    out: Path = field(kw_only=True)
    """The file to write: .csv, or .npz."""
    seconds: float = 6.0
    """Length of the motion."""
    around_policy: bool = False
    """Disturb the newest policy instead, so that the robot learns where the task takes it."""
    robot: str | None = None
    """A robot whose own limits hold, too; without it, those of the workspace's interface.json."""

    def run(self) -> dict[str, Any]:
        if self.out.suffix not in (".csv", ".npz"):
            raise GaplessError(f"cannot write {self.out}: motions are written as .csv or .npz. Name it so.")
        workspace = self.open()
        limits = workspace.interface if self.robot is None else find_robot(self.robot).interface
        workspace.interface.require_same(limits, "the workspace", "the robot")
        with working("excite") as tell:
            found = self._design(limits, tell)
        write_motion(self.out, found.rows, workspace.interface)
        share = [[n, found.now[n], found.after[n], found.after[n] / found.now[n]] for n in found.now]
        table("What the motion is expected to teach", ["parameter", "deviation now", "after", "of it left"], share)
        say(f"Wrote {self.out}: {self.seconds:g} s, using {found.usage:.0%} of the way to the nearest limit at most.")
        return {"file": self.out, "now": found.now, "after": found.after, "usage": found.usage}

    def _design(self, limits: Interface, tell: Any) -> Design:
        workspace = self.open()
        stages, policies = self.stages(workspace, tell), contenders(workspace.store)
        if self.around_policy and not policies:
            raise GaplessError(f"{workspace.folder} has no policy yet to excite around. Run `gapless train` first.")
        # A file is played as it is: nobody pulls the robot back.
        recipe = self.recipe.excite if self.around_policy else replace(self.recipe.excite, pull=0.0)
        policy = stages.policy(policies[-1]) if self.around_policy else None
        known, key = stages.known(newest_belief(workspace)), key_for(self.seed, "excite file")
        return design(
            workspace.simulator, known, Wanted(limits, self.seconds, policy), recipe, key,
            lambda done: tell("improving motions", done),
        )  # fmt: skip


def write_motion(path: Path, rows: np.ndarray, interface: Interface) -> None:
    """Commands by channel, with the time at which each is sent."""
    times = np.arange(len(rows)) * interface.period_s
    if path.suffix == ".npz":
        np.savez(path, time=times, **unstack(rows, interface.command_widths))
        return
    names = [c.name if c.width == 1 else f"{c.name}.{k}" for c in interface.commands for k in range(c.width)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", *names])
    writer.writerows([f"{t:.9g}", *(f"{v:.9g}" for v in row)] for t, row in zip(times, rows, strict=True))
    write_text(path, text.getvalue())
