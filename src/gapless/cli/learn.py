"""`gapless gap` and `gapless learn`: how wrong the simulator is, why, and a better one."""

from dataclasses import dataclass
from typing import Any

from .console import working
from .options import InWorkspace
from .stored import all_logs, newest_belief, some_policy
from .tables import causes_table, gap_table, parameter_table


@dataclass(frozen=True)
class Gap(InWorkspace):
    """How wrong is the simulator, and why? Prediction error on held-out logs beside the noise floor, and its causes."""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        with workspace.locked(), working("gap") as tell:
            belief, logs, stages = newest_belief(workspace), all_logs(workspace), self.stages(workspace, tell)
            made = stages.gap(belief, logs)
            causes = None if belief is None else stages.attribute(belief, logs, some_policy(workspace))
        gap_table(made.figures)
        if causes is None:
            return made.figures
        causes_table(causes.figures)
        return {**made.figures, "attribution": causes.figures}


@dataclass(frozen=True)
class Learn(InWorkspace):
    """Identify the parameters from all logs and say what causes the gap.

    What parameters leave over is learned as forces beside them (not with --recipe.no-parts); --recipe.clone pulls a clone of the
    robot towards the logs. Either is used where it predicts held-out logs better.
    """

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        with workspace.locked(), working("learn") as tell:
            stages, logs = self.stages(workspace, tell), all_logs(workspace)
            belief = stages.learn(logs)
            gap, causes = stages.gap(belief, logs), stages.attribute(belief, logs, some_policy(workspace))
        parameter_table(belief.figures)
        gap_table(gap.figures)
        causes_table(causes.figures)
        return {"belief": belief.figures, "gap": gap.figures, "attribution": causes.figures}
