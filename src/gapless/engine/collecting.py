"""The stages that move the robot: motions that teach, and policies to try."""

import contextlib
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gapless.core import Artifact, Block, GaplessError, Interface, Log, Robot, key_for
from gapless.learn import Design, Wanted, design
from gapless.logs import write_logs
from gapless.robots import Gate

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
from .forecasts import require_promising
from .parts import physics_of
from .promises import fulfilled, promise_of
from .usable import too_short, why
from .workshop import Workshop


class Collecting(Workshop):
    """From a robot to logs."""

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
        key = key_for(self.seed, "excite", self.crank, k)
        return design(simulator, known, Wanted(limits, r.excite_s), r.excite, key)

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
