"""The stages that judge a policy: does it pass, what will it score on the robot, and what did it score."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gapless.core import Artifact

from .forecasts import Still, interval, score
from .terms import term_figures
from .workshop import Workshop


class Judging(Workshop):
    """From a policy to what is to be expected of it."""

    def check(self, belief: Artifact | None, policy: Artifact) -> Artifact:
        """Whether the policy passes from ten starts, in ten simulators that the belief allows."""
        made_of = {"policy": policy.id} | ({} if belief is None else {"belief": belief.id})
        recipe = {"crank": self.crank, "seed": self.seed, "checks": self.recipe.checks}

        def build(folder: Path) -> dict[str, Any]:
            self.tell("checking the policy")
            logs, returns = self.simulate(belief, self.policy(policy), self.recipe.checks, 1, "check")
            verdicts = [self.workspace.task.judge(log) for log in logs]
            return {
                "passed": sum(v.passed for v in verdicts),
                "of": len(verdicts),
                "margins": [v.margin for v in verdicts],
                "returns": returns,
            }

        return self.workspace.store.make("check", made_of, recipe, build)

    def forecast(self, belief: Artifact | None, policy: Artifact) -> Artifact:
        """An interval for the mean return of the next deployment."""
        r = self.recipe
        made_of = {"policy": policy.id} | ({} if belief is None else {"belief": belief.id})
        recipe = {"crank": self.crank, "seed": self.seed, "draws": r.draws, "share": r.share, "deploy": r.deploy}

        def build(folder: Path) -> dict[str, Any]:
            self.tell("forecasting")
            logs, returns = self.simulate(belief, self.policy(policy), r.draws, r.deploy, "forecast")
            means = np.asarray(returns).reshape(r.draws, r.deploy).mean(axis=1)
            _, still = self.simulate(belief, Still(self.workspace.interface), r.checks, 1, "still")
            before = score(self.workspace.store, self.crank or None)
            passing = float(np.mean([self.workspace.task.judge(log).passed for log in logs]))
            said = interval(means, r.share, before.widen, float(np.mean(still)))
            said |= {"share": r.share, "returns": means, "still": float(np.mean(still)), "passing": passing}
            said |= {"terms": term_figures(self.workspace.task, logs, r.deploy, r.share)}
            return said | {"score": asdict(before)}

        return self.workspace.store.make("forecast", made_of, recipe, build)

    def outcome(self, forecast: Artifact, deployed: Artifact) -> Artifact:
        """How the forecast went."""

        def build(folder: Path) -> dict[str, Any]:
            episodes, said = deployed.figures["episodes"], forecast.figures
            returns = [e["return"] for e in episodes]
            mean = float(np.mean(returns))
            return {
                "return": mean,
                "returns": returns,
                "low": said["low"],
                "high": said["high"],
                "inside": bool(said["low"] <= mean <= said["high"]),
                "miss": (mean - said["mean"]) / said["deviation"] if said["deviation"] > 0 else None,
                "passed": sum(e["passed"] for e in episodes),
                "of": len(episodes),
            }

        made_of = {"forecast": forecast.id, "logs": deployed.id}
        return self.workspace.store.make("outcome", made_of, {"crank": self.crank}, build)
