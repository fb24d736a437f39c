"""The stages that learn from logs: wrong conventions, a belief, how wrong it still is, and why."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from gapless.core import Artifact, GaplessError, Log
from gapless.learn import Finding, Identified, Learnt, Performance, attribute, identify, learn_residual, preflight
from gapless.learn.clone_robot import Candidate, Contest
from gapless.logs import Parted

from .causes import attribution_figures
from .clones import Attempt, beside, nearer, try_clone
from .fits import fit_figures
from .gaps import Known, gap_figures
from .parts import write_learned
from .usable import parted, usable
from .workshop import Workshop


class Learning(Workshop):
    """From logs to a better simulator."""

    def learn(self, logs: list[Artifact]) -> Artifact:
        """The belief after these logs."""
        kept = usable(logs)
        parts = parted(kept, self.one_by_one)
        made_of = {f"logs{k}": a.id for k, a in enumerate(logs)}
        recipe = {"crank": self.crank, "seed": self.seed, "identify": asdict(self.recipe.identify)}
        recipe["parameters"] = [asdict(p) for p in self.workspace.parameters]
        recipe["preflight"] = self.recipe.preflight
        recipe["residual"] = asdict(self.recipe.residual) if self.recipe.parts else None
        recipe |= {"clone": asdict(self.recipe.pull)} if self.recipe.clone else {}
        recipe |= {"one_by_one": True} if self.one_by_one else {}

        def build(folder: Path) -> dict[str, Any]:
            def told(iteration: int, cost: float, params: Float[np.ndarray, " param"]) -> None:
                self.tell(f"identifying, iteration {iteration}")

            # Conventions do not change from crank to crank; sensors may break at any time.
            cleared = any(a.figures.get("preflight") == [] for a in self.workspace.store.all("belief"))
            bugs = self.preflight(kept, ask_model=not cleared) if self.recipe.preflight else []
            if bugs:
                self.keep_findings(bugs, made_of)
                raise GaplessError(
                    f"the logs break a convention, so nothing is learnt from them: {bugs[0].evidence}. {bugs[0].advice} "
                    "`gapless preflight` shows all of it; --recipe.no-preflight learns all the same."
                )
            simulator, prior, r = self.workspace.simulator, self.prior(), self.recipe
            found = identify(simulator, prior, *parts, r.identify, self.seed, told)
            learnt = None
            if r.parts:
                learnt = learn_residual(simulator, prior, found, parts, r.residual, self.seed, self.tell)
            attempt = self._cloned(found, learnt, parts) if r.clone else None
            write_learned(folder, found.particles or found.belief, learnt, attempt, simulator)
            return fit_figures(self.workspace.parameters, found, learnt, attempt) | {
                "seconds_of_log": sum(log.seconds for log in kept),
                "preflight": [bug.to_dict() for bug in bugs] if self.recipe.preflight else None,
            }

        return self.workspace.store.make("belief", made_of, recipe, build)

    def _cloned(self, found: Identified, learnt: Learnt | None, logs: Parted) -> Attempt:
        """A clone of what was identified, and whether it predicts held-out logs better than that, alone or with a residual."""
        if found.chi_square < self.recipe.pull.worth:
            return Attempt(None, "No clone was tried: the physics explains the logs.")
        physics = self.workspace.simulator
        begin = rival = Candidate(physics, found.particles or found.belief)
        if learnt is not None:
            begin = nearer(begin, Candidate(physics, learnt.identified.belief), logs.training)
            rival = beside(physics, learnt)
        return try_clone(self.workspace, Contest(begin, rival), logs, self.recipe.pull, self.seed, self.tell)

    def preflight(self, logs: list[Log], ask_model: bool = True) -> list[Finding]:
        """Wrong conventions in the logs: bugs, which no fit should explain away."""

        def told(what: str) -> None:
            self.tell(f"preflight, {what}")

        return preflight(self.workspace.simulator, self.prior(), logs, told, ask_model)

    def keep_findings(self, findings: list[Finding], made_of: dict[str, str]) -> Artifact:
        """What preflight found in the logs that `made_of` names, for the page."""
        figures = {"findings": [finding.to_dict() for finding in findings]}
        recipe = {"crank": self.crank, "seed": self.seed}
        return self.workspace.store.make("preflight", made_of, recipe, lambda folder: figures)

    def gap(self, belief: Artifact | None, logs: list[Artifact]) -> Artifact:
        """How wrong the simulator is on held-out logs: as its data sheet has it, and as believed now."""
        held_out = parted(usable(logs), self.one_by_one).held_out
        made_of = {f"logs{k}": a.id for k, a in enumerate(logs)} | ({} if belief is None else {"belief": belief.id})

        def build(folder: Path) -> dict[str, Any]:
            self.tell("measuring the gap")
            if belief is None:
                return gap_figures(self.workspace.simulator, None, held_out)
            known = Known(self.simulator(belief), self.belief(belief), self.identified(belief))
            return gap_figures(self.workspace.simulator, known, held_out)

        recipe = {"crank": self.crank} | ({"one_by_one": True} if self.one_by_one else {})
        return self.workspace.store.make("gap", made_of, recipe, build)

    def attribute(self, belief: Artifact, logs: list[Artifact], policy: Artifact | None = None) -> Artifact:
        """What causes the gap, in prediction error and, where there is a policy, in return."""
        parts = parted(usable(logs), self.one_by_one)
        made_of = {"belief": belief.id} | {f"logs{k}": a.id for k, a in enumerate(logs)}
        made_of |= {} if policy is None else {"policy": policy.id}
        recipe = {"crank": self.crank, "seed": self.seed, "attribute": asdict(self.recipe.attribute)}

        def build(folder: Path) -> dict[str, Any]:
            at_task = None if policy is None else Performance(self.policy(policy), self.workspace.task)
            physics, known, r = self.workspace.simulator, self.identified(belief), self.recipe.attribute
            found = attribute(physics, known, parts, at_task, r, self.seed, self.tell)
            return attribution_figures(found)

        return self.workspace.store.make("attribution", made_of, recipe, build)
