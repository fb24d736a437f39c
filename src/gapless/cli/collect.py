"""`gapless collect`: logs of a robot that moves by motions that teach, or by a policy."""

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapless.core import Artifact, Block, GaplessError, Robot
from gapless.engine import Plan, Stages, Workspace, require_promising, robot_seconds_spent
from gapless.engine.monitors import monitor, watched
from gapless.engine.scenarios import prove, require_no_regression
from gapless.exchange import load_onnx_policy
from gapless.robots import Gate, find_robot

from .console import say, table, working
from .options import OnRobot
from .stored import newest_belief, newest_pair, policy_before


@dataclass(frozen=True)
class Collect(OnRobot):
    """Record logs on a robot, through the safety gate: motions that teach, or a policy of yours."""

    seconds: float = 20.0
    """Seconds to record; whole episodes until they are reached."""
    policy: str | None = None
    """An ONNX file, or `last` for the newest policy of the workspace; without it, motions that teach."""

    def run(self) -> dict[str, Any]:
        workspace, robot = self.open(), find_robot(self.robot)
        workspace.interface.require_same(robot.interface, "the workspace", "the robot")
        with workspace.locked(), working("collect") as tell:
            stages = self.stages(workspace, tell)
            try:
                made = self._record(stages, workspace, robot)
            finally:
                Gate(robot).disconnect()
        columns = ["episode", "seconds", "return", "passed", "stopped"]
        rows = [
            [e["episode"], e["seconds"], e["return"], e["passed"], e["stopped"] or ""] for e in made.figures["episodes"]
        ]
        table("Recorded", columns, rows)
        spent = robot_seconds_spent(workspace.store)
        say(
            f"{made.figures['robot_seconds']:.0f} robot seconds, {spent:.0f} in this workspace so far, resets included."
        )
        return made.figures

    def _record(self, stages: Stages, workspace: Workspace, robot: Robot) -> Artifact:
        if self.policy is None:
            count = math.ceil(self.seconds / self.recipe.excite_s)
            return stages.excite(robot, newest_belief(workspace), count)
        count = math.ceil(self.seconds / workspace.task.seconds)
        policy, made_of = self._policy(stages, workspace)
        plan = Plan(count, workspace.task.seconds, lambda k: policy)
        return stages.collect(robot, "collect", plan, made_of)

    def _policy(self, stages: Stages, workspace: Workspace) -> tuple[Block, dict[str, str]]:
        if self.policy == "last":
            newest, belief = newest_pair(workspace)
            before = policy_before(workspace, newest)
            if not self.force:
                require_promising(stages.forecast(belief, newest), self.recipe.least)
                require_no_regression(prove(stages, belief, newest, before))
            if not self.recipe.monitor:
                return stages.policy(newest), {"policy": newest.id}
            watch = monitor(stages, belief, newest, workspace.store.all("logs"))
            return watched(stages, newest, watch, before), {"policy": newest.id, "monitor": watch.id}
        if self.recipe.monitor:
            raise GaplessError(
                "the monitor watches policies that were trained here. Drop --recipe.monitor, or use `last`."
            )
        path = Path(str(self.policy))
        found = load_onnx_policy(path, workspace.interface)
        return found, {"onnx": hashlib.sha256(path.read_bytes()).hexdigest()[:12]}
