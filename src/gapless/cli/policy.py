"""`gapless train`, `gapless check` and `gapless forecast`: a policy, and what to expect of it."""

from dataclasses import dataclass
from typing import Any

from gapless.engine import contenders, train_policy
from gapless.engine.scenarios import prove

from .console import table, working
from .options import InWorkspace
from .stored import newest_belief, newest_pair, policy_before
from .tables import check_table, forecast_table, scenario_table


@dataclass(frozen=True)
class TrainPolicy(InWorkspace):
    """Train a policy over everything that the belief still allows, going on from the last policy."""

    scratch: bool = False
    """Start from nothing even if there is a policy."""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        with workspace.locked(), working("train") as tell:
            policies = contenders(workspace.store)
            begin = None if self.scratch or not policies else policies[-1]
            made = train_policy(self.stages(workspace, tell), newest_belief(workspace), begin)
        f = made.figures
        table("Trained", ["policy", "steps", "return", "passing"], [[made.id, f["steps"], f["return"], f["passed"]]])
        return f


@dataclass(frozen=True)
class Check(InWorkspace):
    """Does the newest policy pass, in simulators that the belief allows, and in the workspace's scenarios?

    Scenarios are files in its folder `scenarios`; the policy in place before this one plays them in the same worlds.
    """

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        with workspace.locked(), working("check") as tell:
            policy, belief = newest_pair(workspace)
            stages = self.stages(workspace, tell)
            made = stages.check(belief, policy)
            proved = prove(stages, belief, policy, policy_before(workspace, policy))
        check_table(made.figures)
        if proved is None:
            return made.figures
        scenario_table(proved.figures)
        return {**made.figures, **proved.figures}


@dataclass(frozen=True)
class Forecast(InWorkspace):
    """What will the newest policy score on the robot, and how sure are we?"""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        with workspace.locked(), working("forecast") as tell:
            policy, belief = newest_pair(workspace)
            made = self.stages(workspace, tell).forecast(belief, policy)
        forecast_table(made.figures)
        return made.figures
