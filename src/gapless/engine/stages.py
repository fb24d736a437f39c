"""The stages of the crank, each from artifacts to an artifact that is made once and found again ever after."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from gapless.core import (
    Artifact,
    Belief,
    Block,
    GaplessError,
    Gaussian,
    Log,
    Robot,
    belief_from_dict,
    key_for,
    nominal_belief,
    prior_belief,
)
from gapless.core.artifact import write_text
from gapless.learn import attribute, excite, gap, identify
from gapless.logs import read_logs, split, write_logs
from gapless.nets.policy import NetworkPolicy
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.simulators import Rollout, logs_of
from gapless.train import train

from .episodes import EpisodeFile, Plan, keep_aborted, robot_seconds
from .recipe import Recipe
from .workspace import Workspace

Tell = Callable[..., None]
"""Takes a message and, where known, the share that is done."""
BELIEF, LOGS = "belief.json", "logs"


def quietly(message: str, share: float | None = None) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Stages:
    """The verbs of the loop on one workspace. `seed` decides everything random; `crank` names the turn they belong to."""

    workspace: Workspace
    recipe: Recipe
    seed: int
    crank: int = 0
    tell: Tell = quietly

    def collect(self, robot: Robot, purpose: str, plan: Plan, made_of: dict[str, str]) -> Artifact:
        """The planned episodes on the robot; `made_of` names the artifacts that their policies came from."""
        first, task = self.episodes_before(purpose), self.workspace.task
        recipe = {"crank": self.crank, "purpose": purpose, "first": first, "seed": self.seed}
        recipe |= {"episodes": plan.episodes, "seconds": plan.seconds, "robot": robot.interface.robot, **plan.recipe}
        progress = self.workspace.folder / "progress" / f"{self.crank}-{purpose}-{first}"

        def build(folder: Path) -> dict[str, Any]:
            logs = []
            for k in range(plan.episodes):
                file = EpisodeFile(progress / f"episode-{first + k}.jsonl", robot.interface)
                keep_aborted(self.workspace.store, file, {**recipe, "episode": first + k}, task)
                logs.append(file.finished() or self._record(robot, plan, k, first + k, file))
                self.tell(f"episode {first + k}: {logs[-1].seconds:.1f} s{_why(logs[-1])}", (k + 1) / plan.episodes)
            logs = [log.with_source(purpose=purpose, crank=self.crank) for log in logs]
            write_logs(folder / LOGS, logs, task.name)
            return {"robot_seconds": sum(map(robot_seconds, logs)), "episodes": [self.episode_figures(x) for x in logs]}

        made = self.workspace.store.make("logs", made_of, recipe, build)
        shutil.rmtree(progress, ignore_errors=True)
        return made

    def _record(self, robot: Robot, plan: Plan, k: int, episode: int, file: EpisodeFile) -> Log:
        policy = plan.policy(k)
        robot.connect()
        self.tell(f"recording episode {episode}")
        return file.record(
            robot, policy, self.workspace.task, plan.seconds, episode, key_for(self.seed, "episode", episode)
        )

    def episodes_before(self, purpose: str) -> int:
        """Number of the first episode: fixed by crank and purpose, so that an interrupted crank records the same ones."""
        if self.crank:
            return self.crank * 100 + {"excite": 0, "deploy": 50}[purpose]
        numbers = [
            e["episode"]
            for a in self.workspace.store.all("logs")
            if a.recipe["crank"] == 0
            for e in a.figures["episodes"]
        ]
        return max((n + 1 for n in numbers if n is not None), default=0)

    def excite(self, robot: Robot, belief: Artifact | None, episodes: int) -> Artifact:
        """Motions that teach most under what is believed so far."""
        known = self.prior() if belief is None else self._fitted(belief)
        simulator, r = self.workspace.simulator, self.recipe

        def motion(k: int) -> Block:
            self.tell("choosing a motion")
            key = key_for(self.seed, "excite", self.crank, k)
            return excite(simulator, known, robot.interface, r.excite_s, r.excite, key)

        plan = Plan(episodes, r.excite_s, motion, {"excite": asdict(r.excite)})
        return self.collect(robot, "excite", plan, {} if belief is None else {"belief": belief.id})

    def learn(self, logs: list[Artifact]) -> Artifact:
        """The belief after these logs."""
        kept = usable(logs)
        training, held_out = split(kept)
        made_of = {f"logs{k}": a.id for k, a in enumerate(logs)}
        recipe = {"crank": self.crank, "seed": self.seed, "identify": asdict(self.recipe.identify)}
        recipe["parameters"] = [asdict(p) for p in self.workspace.parameters]

        def build(folder: Path) -> dict[str, Any]:
            def told(iteration: int, cost: float) -> None:
                self.tell(f"identifying, iteration {iteration}")

            found = identify(
                self.workspace.simulator, self.prior(), training, held_out, self.recipe.identify, self.seed, told
            )
            write_text(folder / BELIEF, json.dumps(found.belief.to_dict()))
            return {
                "parameters": self.parameter_figures(found.belief),
                "chi_square": found.chi_square,
                "channel_noise": found.noise,
                "seconds_of_log": sum(log.seconds for log in kept),
                "method": found.method,
                "windows": found.windows,
            }

        return self.workspace.store.make("belief", made_of, recipe, build)

    def gap(self, belief: Artifact | None, logs: list[Artifact]) -> Artifact:
        """How wrong the simulator is on held-out logs: as its data sheet has it, and as believed now."""
        held_out = split(usable(logs))[1]
        made_of = {f"logs{k}": a.id for k, a in enumerate(logs)} | ({} if belief is None else {"belief": belief.id})

        def build(folder: Path) -> dict[str, Any]:
            self.tell("measuring the gap")
            return self.gap_figures(None if belief is None else self.belief(belief), held_out)

        return self.workspace.store.make("gap", made_of, {"crank": self.crank}, build)

    def attribute(self, belief: Artifact, logs: list[Artifact]) -> Artifact:
        """What causes the gap."""
        training, held_out = split(usable(logs))
        made_of = {"belief": belief.id} | {f"logs{k}": a.id for k, a in enumerate(logs)}

        def build(folder: Path) -> dict[str, Any]:
            def told(family: str) -> None:
                self.tell(f"fitting {family} alone")

            simulator = self.workspace.simulator
            causes, together = attribute(simulator, self.belief(belief), training, held_out, told)
            return {"families": [asdict(c) for c in causes], "together": together, "unexplained": 1 - together}

        return self.workspace.store.make("attribution", made_of, {"crank": self.crank}, build)

    def train(self, belief: Artifact | None, begin_with: Artifact | None) -> Artifact:
        """A policy for everything that the belief allows, from scratch or from the last one."""
        recipe = self.recipe.train if begin_with is None else self.recipe.again
        made_of = ({} if belief is None else {"belief": belief.id}) | (
            {} if begin_with is None else {"begin_with": begin_with.id}
        )
        made_from = {
            "crank": self.crank,
            "seed": self.seed,
            "task": self.workspace.settings.task,
            "train": asdict(recipe),
        }

        def build(folder: Path) -> dict[str, Any]:
            trained = train(
                self.workspace.simulator,
                nominal_belief(self.workspace.parameters) if belief is None else self.belief(belief),
                self.workspace.task,
                recipe,
                key_for(self.seed, "train", self.crank),
                None if begin_with is None else self.policy(begin_with),
                lambda steps, value: self.tell(
                    f"training, {steps:,} steps, return {value:.2f}", min(1.0, steps / recipe.ppo.budget)
                ),
            )
            save_policy(folder, trained.policy)
            return {
                "curve": trained.curve,
                "steps": trained.steps,
                "return": trained.value,
                "passed": trained.passed,
                "solved": trained.passed == 1.0,
            }

        return self.workspace.store.make("policy", made_of, made_from, build)

    def check(self, belief: Artifact | None, policy: Artifact) -> Artifact:
        """Whether the policy passes from ten starts, in ten simulators that the belief allows."""
        made_of = {"policy": policy.id} | ({} if belief is None else {"belief": belief.id})
        recipe = {"crank": self.crank, "seed": self.seed, "checks": self.recipe.checks}

        def build(folder: Path) -> dict[str, Any]:
            self.tell("checking the policy")
            logs, returns = self.simulate(belief, policy, self.recipe.checks, 1, "check")
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
            _, returns = self.simulate(belief, policy, r.draws, r.deploy, "forecast")
            means = np.asarray(returns).reshape(r.draws, r.deploy).mean(axis=1)
            low, high = np.quantile(means, [(1 - r.share) / 2, (1 + r.share) / 2])
            # A belief that is nearly certain still meets a robot that is not the simulator: two per cent at least.
            slack = 0.02 * abs(float(means.mean()))
            low, high = min(low, means.mean() - slack), max(high, means.mean() + slack)
            return {"low": low, "mean": means.mean(), "high": high, "share": r.share, "returns": means}

        return self.workspace.store.make("forecast", made_of, recipe, build)

    def deploy(self, robot: Robot, policy: Artifact) -> Artifact:
        """The policy on the robot."""
        plan = Plan(self.recipe.deploy, self.workspace.task.seconds, lambda k: self.policy(policy))
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
                "passed": sum(e["passed"] for e in episodes),
                "of": len(episodes),
            }

        made_of = {"forecast": forecast.id, "logs": deployed.id}
        return self.workspace.store.make("outcome", made_of, {"crank": self.crank}, build)

    def simulate(
        self, belief: Artifact | None, policy: Artifact, draws: int, each: int, what: str
    ) -> tuple[list[Log], list[float]]:
        """Episodes of a policy in draws from the belief, `each` episodes per draw."""
        known = nominal_belief(self.workspace.parameters) if belief is None else self.belief(belief)
        keys = jax.random.split(key_for(self.seed, what, self.crank))
        params = {k: np.repeat(np.asarray(v, np.float64), each) for k, v in known.sample(keys[0], draws).items()}
        rollout = Rollout(self.workspace.simulator.with_worlds(draws * each), self.workspace.task)
        episodes = rollout.run(self.policy(policy), params, keys[1])
        return logs_of(episodes, rollout.simulator), episodes.returns.tolist()

    def prior(self) -> Gaussian:
        return prior_belief(self.workspace.parameters)

    def belief(self, artifact: Artifact) -> Belief:
        return belief_from_dict(json.loads(artifact.file(BELIEF).read_text()))

    def policy(self, artifact: Artifact) -> NetworkPolicy:
        return load_policy(artifact.folder)

    def _fitted(self, artifact: Artifact) -> Gaussian:
        belief = self.belief(artifact)
        assert isinstance(belief, Gaussian)
        return belief

    def is_wide(self, belief: Artifact) -> bool:
        """Whether some parameter is still nearly as unknown as before."""
        before, after = self.prior().deviation(), self.belief(belief).deviation()
        return any(float(after[n]) > self.recipe.wide * float(before[n]) for n in before)

    def episode_figures(self, log: Log) -> dict[str, Any]:
        verdict = self.workspace.task.judge(log)
        return {
            "episode": log.source.get("episode"),
            "seconds": log.seconds,
            "return": self.workspace.task.score(log),
            "passed": verdict.passed,
            "margin": verdict.margin,
            "stopped": log.source.get("stopped"),
        }

    def parameter_figures(self, belief: Gaussian) -> list[dict[str, Any]]:
        mean, deviation = belief.mean(), belief.deviation()
        return [
            {
                "name": p.name, "unit": p.unit, "family": p.family, "nominal": p.nominal,
                "prior_low": p.low, "prior_high": p.high,
                "mean": float(mean[p.name]), "deviation": float(deviation[p.name]),
                "low95": float(mean[p.name]) - 1.96 * float(deviation[p.name]),
                "high95": float(mean[p.name]) + 1.96 * float(deviation[p.name]),
            }
            for p in self.workspace.parameters if p.free and p.name in mean
        ]  # fmt: skip

    def gap_figures(self, belief: Belief | None, held_out: list[Log]) -> dict[str, Any]:
        simulator = self.workspace.simulator
        nominal = nominal_belief(self.workspace.parameters)
        before = gap(simulator, nominal, held_out, floor_from=belief)
        after = before if belief is None else gap(simulator, belief, held_out)
        at = 0.5 if 0.5 in before.horizons_s else before.horizons_s[-1]
        units = {c.name: c.unit for c in self.workspace.interface.measurements}
        return {
            "horizons_s": before.horizons_s, "before": before.error, "after": after.error, "floor": after.floor,
            "unit": units,
            "summary": {
                "horizon_s": at, "before": before.excess(at), "after": after.excess(at),
                "ratio": before.excess(at) / after.excess(at),
            },
            "curves": [
                {
                    "channel": name, "unit": units[name], "time_s": curve["time_s"], "measured": curve["measured"],
                    "before": curve["predicted"], "after": after.curves[name]["predicted"],
                }
                for name, curve in before.curves.items()
            ],
        }  # fmt: skip


def usable(logs: list[Artifact]) -> list[Log]:
    """The logs of several artifacts that have something to say."""
    found = [log for a in logs for log in read_logs(a.folder / LOGS) if len(log) > 20]
    if not found:
        raise GaplessError("there are no logs to learn from. Collect or import some first.")
    return found


def _why(log: Log) -> str:
    return f", stopped: {log.source['stopped']}" if log.source.get("stopped") else ""
