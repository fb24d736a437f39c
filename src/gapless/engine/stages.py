"""The stages of the crank, each from artifacts to an artifact that is made once and found again ever after."""

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from gapless.core import (
    Artifact,
    Belief,
    Block,
    Chosen,
    GaplessError,
    Gaussian,
    Interface,
    Log,
    Params,
    Particles,
    Robot,
    Simulator,
    key_for,
    nominal_belief,
    prior_belief,
    read_belief,
)
from gapless.learn import (
    Design,
    Finding,
    Identified,
    Learnt,
    Performance,
    attribute,
    design,
    identify,
    learn_residual,
    preflight,
)
from gapless.learn.clone_robot import Candidate
from gapless.logs import write_logs
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.stored_policy import load_policy
from gapless.robots import Gate
from gapless.simulators import Rollout, logs_of

from .causes import attribution_figures
from .clones import Attempt, beside, nearer, try_clone
from .episodes import (
    LOGS,
    EpisodeFile,
    Plan,
    episode_figures,
    good_part,
    keep_aborted,
    marks_of,
    robot_seconds,
    teaches,
)
from .fits import fit_figures
from .forecasts import Still, interval, require_promising, score
from .gaps import Known, gap_figures
from .parts import BELIEF, identified_alone, physics_of, simulator_of, write_learned
from .promises import fulfilled, promise_of
from .recipe import Recipe
from .terms import term_figures
from .usable import parted, too_short, usable, why
from .workspace import Workspace

Tell = Callable[..., None]
"""Takes a message and, where known, the share that is done."""


def to_nobody(message: str, share: float | None = None) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Stages:
    """The verbs of the loop on one workspace. `seed` decides everything random; `crank` names the turn they belong to."""

    workspace: Workspace
    recipe: Recipe
    seed: int
    crank: int = 0
    tell: Tell = to_nobody

    def collect(self, robot: Robot, purpose: str, plan: Plan, made_of: dict[str, str]) -> Artifact:
        """The planned episodes on the robot; `made_of` names the artifacts that their policies came from."""
        first, task = self.episodes_before(purpose) + plan.after, self.workspace.task
        recipe = {"crank": self.crank, "purpose": purpose, "first": first, "seed": self.seed}
        recipe |= {"episodes": plan.episodes, "seconds": plan.seconds, "robot": robot.interface.robot, **plan.recipe}
        progress = self.workspace.folder / "progress" / f"{self.crank}-{purpose}-{first}"

        def build(folder: Path) -> dict[str, Any]:
            logs, numbers = [], range(first, first + plan.episodes)
            files = {n: EpisodeFile(progress / f"episode-{n}.jsonl", robot.interface) for n in numbers}
            for k, (n, file) in enumerate(files.items()):
                keep_aborted(self.workspace.store, file, {**recipe, "episode": n}, task)
                logs.append(file.finished() or self._record(robot, plan, k, n, file))
                self.tell(f"episode {n}: {logs[-1].seconds:.1f} s{why(logs[-1])}", (k + 1) / plan.episodes)
            if purpose == "excite" and not any(map(teaches, logs)):
                for n, file in files.items():  # or the same command would find them again, and never go on
                    keep_aborted(self.workspace.store, file, {**recipe, "episode": n}, task, even_finished=True)
                raise GaplessError(f"{too_short(logs)}. They are kept as aborted; run the same command to record anew.")
            marks = {"purpose": purpose, "crank": self.crank, **marks_of(plan, task)}
            logs = [log.with_source(**marks) for log in logs]
            write_logs(folder / LOGS, logs, task.name)
            figures = [episode_figures(task, good_part(log)) for log in logs]
            expected = [(file.expected(), log) for file, log in zip(files.values(), logs, strict=True)]
            motions = [fulfilled(promise, log) for promise, log in expected if promise is not None]
            return {"robot_seconds": sum(map(robot_seconds, logs)), "episodes": figures, "motions": motions}

        made = self.workspace.store.make("logs", made_of, recipe, build)
        shutil.rmtree(progress, ignore_errors=True)
        return made

    def _record(self, robot: Robot, plan: Plan, k: int, episode: int, file: EpisodeFile) -> Log:
        policy, gate = plan.policy(k), Gate(robot, self.recipe.limits)
        gate.connect()
        if plan.promise is not None:
            file.expect(plan.promise(k))
        self.tell(f"recording episode {episode}")
        key = key_for(self.seed, "episode", episode)
        log = file.record(gate, plan, self.workspace.task, episode, policy, key)
        if gate.lost:  # the next episode connects anew; if that fails, nobody has to hear it twice
            with contextlib.suppress(GaplessError):
                gate.disconnect()
        return log

    def episodes_before(self, purpose: str) -> int:
        """Number of the first episode: fixed by crank and purpose, so that an interrupted crank records the same ones."""
        if self.crank:
            mine = [a for a in self.workspace.store.all("logs") if a.recipe["crank"] == self.crank]
            tries = [a for a in mine if a.recipe["purpose"] == purpose == "adapt"]  # each an artifact of its own
            return self.crank * 100 + {"excite": 0, "deploy": 50, "adapt": 70}[purpose] + len(tries)
        numbers = [
            e["episode"]
            for a in self.workspace.store.all("logs")
            if a.recipe["crank"] == 0
            for e in a.figures["episodes"]
        ]
        return max((n + 1 for n in numbers if n is not None), default=0)

    def excite(
        self, robot: Robot, belief: Artifact | None, episodes: int, after: int = 0, ready: Design | None = None
    ) -> Artifact:
        """Motions that teach most under what is believed so far, after others of this crank; the first may be ready."""
        chosen: dict[int, Design] = {} if ready is None else {0: ready}

        def motion(k: int) -> Block:
            if k not in chosen:
                chosen[k] = self.motion(robot.interface, belief, after + k)
            return chosen[k].motion

        def promise(k: int) -> dict[str, Any]:
            return promise_of(chosen[k], robot.interface)

        r = self.recipe
        plan = Plan(episodes, r.excite_s, motion, False, {"excite": asdict(r.excite)}, promise, after)
        return self.collect(robot, "excite", plan, {} if belief is None else {"belief": belief.id})

    def motion(self, limits: Interface, belief: Artifact | None, k: int) -> Design:
        """The k-th motion of this crank: the one that teaches most under a belief, or without one under the prior."""
        self.tell("choosing a motion")
        # Motions teach parameters, which the physics has; a clone knows them only as far as it was taught.
        known, simulator, r = self.known(belief), physics_of(self.workspace.simulator, belief), self.recipe
        return design(simulator, known, limits, r.excite_s, r.excite, key_for(self.seed, "excite", self.crank, k))

    def learn(self, logs: list[Artifact]) -> Artifact:
        """The belief after these logs."""
        kept = usable(logs)
        training, held_out = parted(kept, self._one_by_one)
        made_of = {f"logs{k}": a.id for k, a in enumerate(logs)}
        recipe = {"crank": self.crank, "seed": self.seed, "identify": asdict(self.recipe.identify)}
        recipe["parameters"] = [asdict(p) for p in self.workspace.parameters]
        recipe["preflight"] = self.recipe.preflight
        recipe["residual"] = asdict(self.recipe.residual) if self.recipe.parts else None
        recipe |= {"clone": asdict(self.recipe.pull)} if self.recipe.clone else {}
        recipe |= {"one_by_one": True} if self._one_by_one else {}

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
            found = identify(simulator, prior, training, held_out, r.identify, self.seed, told)
            learnt = None
            if r.parts:
                learnt = learn_residual(simulator, prior, found, training, held_out, r.residual, self.seed, self.tell)
            attempt = self._cloned(found, learnt, (training, held_out)) if r.clone else None
            write_learned(folder, found.particles or found.belief, learnt, attempt, simulator)
            return fit_figures(self.workspace.parameters, found, learnt, attempt) | {
                "seconds_of_log": sum(log.seconds for log in kept),
                "preflight": [bug.to_dict() for bug in bugs] if self.recipe.preflight else None,
            }

        return self.workspace.store.make("belief", made_of, recipe, build)

    def _cloned(self, found: Identified, learnt: Learnt | None, logs: tuple[list[Log], list[Log]]) -> Attempt:
        """A clone of what was identified, and whether it predicts the second logs better than that, and than with a residual."""
        if found.chi_square < self.recipe.pull.worth:
            return Attempt(None, "No clone was tried: the physics explains the logs.")
        physics = self.workspace.simulator
        begin = rival = Candidate(physics, found.particles or found.belief)
        if learnt is not None:
            begin = nearer(begin, Candidate(physics, learnt.identified.belief), logs[0])
            rival = beside(physics, learnt)
        return try_clone(self.workspace, (begin, rival), logs, self.recipe.pull, self.seed, self.tell)

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
        held_out = parted(usable(logs), self._one_by_one)[1]
        made_of = {f"logs{k}": a.id for k, a in enumerate(logs)} | ({} if belief is None else {"belief": belief.id})

        def build(folder: Path) -> dict[str, Any]:
            self.tell("measuring the gap")
            if belief is None:
                return gap_figures(self.workspace.simulator, None, held_out)
            known = Known(self.simulator(belief), self.belief(belief), self.identified(belief))
            return gap_figures(self.workspace.simulator, known, held_out)

        recipe = {"crank": self.crank} | ({"one_by_one": True} if self._one_by_one else {})
        return self.workspace.store.make("gap", made_of, recipe, build)

    def attribute(self, belief: Artifact, logs: list[Artifact], policy: Artifact | None = None) -> Artifact:
        """What causes the gap, in prediction error and, where there is a policy, in return."""
        training, held_out = parted(usable(logs), self._one_by_one)
        made_of = {"belief": belief.id} | {f"logs{k}": a.id for k, a in enumerate(logs)}
        made_of |= {} if policy is None else {"policy": policy.id}
        recipe = {"crank": self.crank, "seed": self.seed, "attribute": asdict(self.recipe.attribute)}

        def build(folder: Path) -> dict[str, Any]:
            at_task = None if policy is None else Performance(self.policy(policy), self.workspace.task)
            found = attribute(
                self.workspace.simulator, self.identified(belief), training, held_out, at_task, self.recipe.attribute,
                self.seed, self.tell,
            )  # fmt: skip
            return attribution_figures(found)

        return self.workspace.store.make("attribution", made_of, recipe, build)

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
            said = interval(means, r.share, before.widen)
            said |= {"share": r.share, "returns": means, "still": float(np.mean(still)), "passing": passing}
            said |= {"terms": term_figures(self.workspace.task, logs, r.deploy, r.share)}
            return said | {"score": asdict(before)}

        return self.workspace.store.make("forecast", made_of, recipe, build)

    def deploy(
        self, robot: Robot, policy: Artifact, forecast: Artifact, under: Block | None = None, after: int = 0
    ) -> Artifact:
        """The policy on the robot, if its forecast allows or the recipe forces it; `under` is the policy under watch."""
        if not self.recipe.force:
            require_promising(forecast, self.recipe.least)
        recipe = {} if under is None else {"monitor": True}
        plan = Plan(
            self.recipe.deploy, self.workspace.task.seconds, lambda k: under or self.policy(policy), recipe=recipe,
            after=after,
        )  # fmt: skip
        return self.collect(robot, "deploy", plan, {"policy": policy.id})

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

    def simulate(
        self, belief: Artifact | None, policy: Block, draws: int, each: int, what: str
    ) -> tuple[list[Log], list[float]]:
        """Episodes of a policy in draws from the belief, `each` episodes per draw."""
        drawn, key = self.drawn(belief, draws, what)
        params = {k: np.repeat(v, each) for k, v in drawn.items()}
        rollout = Rollout(self.simulator(belief).with_worlds(draws * each), self.workspace.task)
        episodes = rollout.run(policy, params, key)
        return logs_of(episodes, rollout.simulator), episodes.returns.tolist()

    def drawn(self, belief: Artifact | None, draws: int, what: str) -> tuple[Params, PRNGKeyArray]:
        """The parameters that `simulate` draws from a belief for some purpose, and the key of its episodes."""
        keys = jax.random.split(key_for(self.seed, what, self.crank))
        return {k: np.asarray(v, np.float64) for k, v in self.believed(belief).sample(keys[0], draws).items()}, keys[1]

    @property
    def _one_by_one(self) -> bool:
        """Whether each log was recorded by a decision of its own."""
        return self.recipe.schedule == "next-best"

    def prior(self) -> Gaussian:
        return prior_belief(self.workspace.parameters)

    def belief(self, artifact: Artifact) -> Belief:
        return read_belief(artifact.file(BELIEF))

    def believed(self, artifact: Artifact | None) -> Belief:
        """What a policy is trained and judged over: a belief, or without one the data sheet."""
        return nominal_belief(self.workspace.parameters) if artifact is None else self.belief(artifact)

    def identified(self, artifact: Artifact) -> Belief:
        """The belief about the physics alone, as it was before parts were learned beside it."""
        return identified_alone(artifact)

    def simulator(self, belief: Artifact | None) -> Simulator:
        """The simulator that a belief is about: the workspace's, with the parts that were learned beside it, or its clone."""
        return simulator_of(self.workspace.simulator, belief)

    def policy(self, artifact: Artifact) -> SeeingPolicy:
        return load_policy(artifact.folder)

    def known(self, artifact: Artifact | None) -> Gaussian:
        """What motions are chosen under: a belief, or without one the prior."""
        if artifact is None:
            return self.prior()
        belief = self.belief(artifact)
        belief = belief.beside if isinstance(belief, Chosen) else belief
        if isinstance(belief, Particles):
            return belief.gaussian()
        if not isinstance(belief, Gaussian):
            raise GaplessError(
                f"the belief {artifact.id} is no Gaussian, so that nothing can be excited by it. Learn it again."
            )
        return belief

    def is_wide(self, belief: Artifact) -> bool:
        """Whether some parameter is still nearly as unknown as before."""
        before, after = self.prior().deviation(), self.belief(belief).deviation()
        return any(float(after[n]) > self.recipe.wide * float(before[n]) for n in before)
