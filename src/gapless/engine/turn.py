"""What one turn of the crank did, and what it cost."""

from dataclasses import dataclass
from typing import Any

from gapless.core import Artifact, Store

from .causes import main_causes


@dataclass(frozen=True)
class Turn:
    """What one crank did. A crank that found nothing worth doing has the products of the one before it."""

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
    deployed: tuple[Artifact, ...] = ()
    """Logs of its policy on the robot, in this crank."""
    decisions: tuple[Artifact, ...] = ()
    """Why its robot seconds were spent as they were, where that was decided and not scheduled."""

    def figures(self) -> dict:
        """What is printed about it."""
        gap, forecast, outcome = (a.figures for a in (self.gap, self.forecast, self.outcome))
        episodes = [e for a in self.deployed for e in a.figures["episodes"]]
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
            "verdict": f"{sum(bool(e['passed']) for e in episodes)}/{len(episodes)}",
            "policy_of": self.standing.recipe["crank"],
            "scenarios": [] if self.scenarios is None else self.scenarios.figures["scenarios"],
            "why": [decision.figures["why"] for decision in self.decisions],
        }


def robot_seconds_spent(store: Store, until_crank: int | None = None, having: dict[str, Any] | None = None) -> float:
    """Every second of every episode that was asked for, finished or not, up to a crank, or whose recipes have these."""
    asked = store.all("logs") + store.all("aborted")
    counted = [a for a in asked if until_crank is None or a.recipe["crank"] <= until_crank]
    counted = [a for a in counted if (having or {}).items() <= a.recipe.items()]
    return sum(a.figures["robot_seconds"] for a in counted)
