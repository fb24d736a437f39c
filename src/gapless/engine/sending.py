"""A policy on its way to the robot: checked, forecast, held against the scenarios, put under watch, deployed."""

from typing import NamedTuple

from gapless.core import Artifact, Block, Robot

from .monitors import monitor, watched
from .scenarios import KIND, prove, require_no_regression
from .stages import Stages


class Ready(NamedTuple):
    """A policy that may go to the robot."""

    policy: Artifact
    check: Artifact
    forecast: Artifact
    proved: Artifact | None
    """How it did in the workspace's scenarios, where there are any."""
    under: Block | None
    """The policy under watch, where the recipe asks for it."""

    def deploy(self, stages: Stages, robot: Robot, after: int = 0) -> Artifact:
        """Its logs on the robot, after so many other episodes of this crank."""
        return stages.deploy(robot, self.policy, self.forecast, self.under, after)


def readied(
    stages: Stages, belief: Artifact, policy: Artifact, in_place: Artifact | None, logs: list[Artifact]
) -> Ready:
    """Everything that is asked before a policy is deployed; raises where it may not be."""
    check = stages.check(belief, policy)
    forecast = stages.forecast(belief, policy)
    proved = _proved(stages, belief, policy, in_place)
    under = watched(stages, policy, monitor(stages, belief, policy, logs), in_place) if stages.recipe.monitor else None
    return Ready(policy, check, forecast, proved, under)


def _proved(stages: Stages, belief: Artifact, policy: Artifact, in_place: Artifact | None) -> Artifact | None:
    """How the policy did in the scenarios there were before it was deployed; raises where it may not be."""
    store, crank = stages.workspace.store, stages.crank
    if any(a.parents.get("policy") == policy.id and a.recipe["crank"] == crank for a in store.all("logs")):
        # It has been on the robot: scenarios that somebody wrote since then do not call it back.
        known = [a for a in store.all(KIND) if a.parents.get("policy") == policy.id and a.recipe["crank"] == crank]
        return known[-1] if known else None
    proved = prove(stages, belief, policy, in_place)
    if not stages.recipe.force:
        require_no_regression(proved)
    return proved
