"""One turn of the loop: collect what is needed, learn, train, check, forecast, deploy. Killed anywhere, it goes on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gapless.core import Artifact, Robot, Store
from gapless.learn import NoSafeMotion
from gapless.robots import Gate

from .causes import main_causes
from .incumbent import standing
from .monitors import monitor, watched
from .recipe import Recipe
from .scenarios import KIND, prove, require_no_regression
from .stages import Stages, Tell, to_nobody
from .training import train_policy
from .workspace import Workspace


@dataclass(frozen=True)
class Turn:
    """What one crank did."""

    crank: int
    robot_seconds: float
    """Of the whole workspace until now, resets and aborted episodes included."""
    belief: Artifact
    gap: Artifact
    attribution: Artifact | None
    """What causes the gap, where the recipe asks for it."""
    policy: Artifact
    check: Artifact
    forecast: Artifact
    outcome: Artifact
    standing: Artifact
    """The policy to stand by after it: this crank's, or an earlier one that did better on the robot."""
    scenarios: Artifact | None = None
    """How the policy did in the workspace's scenarios before it was deployed, where there were any."""

    def figures(self) -> dict:
        """What is printed about it."""
        gap, forecast, outcome = (a.figures for a in (self.gap, self.forecast, self.outcome))
        return {
            "crank": self.crank,
            "robot_seconds": self.robot_seconds,
            "gap_before": gap["summary"]["before"],
            "gap_after": gap["summary"]["after"],
            "causes": "not asked" if self.attribution is None else main_causes(self.attribution.figures),
            "check": f"{self.check.figures['passed']}/{self.check.figures['of']}",
            "forecast_low": forecast["low"],
            "forecast_high": forecast["high"],
            "return": outcome["return"],
            "inside": outcome["inside"],
            "verdict": f"{outcome['passed']}/{outcome['of']}",
            "policy_of": self.standing.recipe["crank"],
            "scenarios": [] if self.scenarios is None else self.scenarios.figures["scenarios"],
        }


def cranks(
    workspace: Workspace,
    robot: Robot,
    recipe: Recipe,
    seed: int,
    count: int,
    tell: Callable[[int], Tell] = lambda crank: to_nobody,
) -> Iterator[Turn]:
    """Turn the crank until there have been `count` turns; those finished before are found, not made again."""
    workspace.interface.require_same(robot.interface, "the workspace", "the robot")
    if not recipe.clone:  # before the robot moves; a clone is there only later
        recipe.train.method.require_place(workspace.simulator)
    # Episodes of adaptations are another matter: with them among its logs, a crank would turn everything anew.
    by_hand = [a for a in workspace.store.all("logs") if a.recipe["crank"] == 0]
    logs = [a for a in by_hand if a.recipe.get("purpose") != "adapt"]
    belief, policies = None, []
    try:
        for crank in range(1, count + 1):
            stages = Stages(workspace, recipe, seed, crank, tell(crank))
            if belief is None:
                logs.append(stages.excite(robot, None, recipe.excite_first))
            elif stages.is_wide(belief):
                logs += _more(stages, robot, belief)
            turn, deployed = _turn(stages, robot, logs, policies)
            belief = turn.belief
            policies.append(turn.policy)
            logs.append(deployed)
            yield turn
    finally:
        Gate(robot).disconnect()  # whatever the driver raises becomes one sentence


def _more(stages: Stages, robot: Robot, belief: Artifact) -> list[Artifact]:
    """One more motion that teaches, where there is a safe one: else the deployment has to teach alone."""
    try:
        return [stages.excite(robot, belief, 1)]
    except NoSafeMotion:
        stages.tell("no motion is safe under this belief, going on without one")
        return []


def _turn(stages: Stages, robot: Robot, logs: list[Artifact], before: list[Artifact]) -> tuple[Turn, Artifact]:
    store, crank = stages.workspace.store, stages.crank
    belief = stages.learn(logs)
    gap = stages.gap(belief, logs)
    in_place = standing(store, before, crank - 1) if before else None
    policy = train_policy(stages, belief, in_place)
    attribution = stages.attribute(belief, logs, policy) if stages.recipe.explain else None
    check = stages.check(belief, policy)
    forecast = stages.forecast(belief, policy)
    proved = _proved(stages, belief, policy, in_place)
    under = watched(stages, policy, monitor(stages, belief, policy, logs), in_place) if stages.recipe.monitor else None
    deployed = stages.deploy(robot, policy, forecast, under)
    outcome = stages.outcome(forecast, deployed)
    spent, best = robot_seconds_spent(store, crank), standing(store, [*before, policy], crank)
    return Turn(crank, spent, belief, gap, attribution, policy, check, forecast, outcome, best, proved), deployed


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


def robot_seconds_spent(store: Store, until_crank: int | None = None, having: dict[str, Any] | None = None) -> float:
    """Every second of every episode that was asked for, finished or not, up to a crank, or whose recipes have these."""
    asked = store.all("logs") + store.all("aborted")
    counted = [a for a in asked if until_crank is None or a.recipe["crank"] <= until_crank]
    counted = [a for a in counted if (having or {}).items() <= a.recipe.items()]
    return sum(a.figures["robot_seconds"] for a in counted)
