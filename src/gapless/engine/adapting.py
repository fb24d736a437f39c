"""Adaptation on the robot: policies to try come from a generator; robot, gate, seconds and what is kept are ours.

Every policy that is tried and every log of it is an artifact of its own. An adaptation that was interrupted is replayed with the
logs that there are, which costs no robot seconds, and goes on with the first try that has none.
"""

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np

from gapless.core import Artifact, GaplessError, Log, Robot, key_for
from gapless.core.artifact import artifact_id
from gapless.logs import read_logs
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.stored_policy import save_policy
from gapless.robots import Gate
from gapless.train import Look, Place
from gapless.train.adapting import Adapter, Means, worth

from .episodes import LOGS, RESET_S, Plan, good_part
from .forecasts import require_promising
from .incumbent import KEPT
from .stages import Stages
from .turn import robot_seconds_spent

KIND, PREPARED, CANDIDATE, PURPOSE = "policy", "prepared", "candidate", "adapt"
TRIED, ADAPTATION = "tried", "adaptation"
"""What parents of an adapted policy are called that are the same policy as it was tried; and the adaptation in recipes."""


@dataclass(frozen=True)
class Begin:
    """What an adaptation begins with."""

    belief: Artifact
    in_place: Artifact | None = None
    """The policy that there is already; methods that adapt any policy adapt this one."""
    budget_s: float | None = None
    """Robot seconds that the whole adaptation may take, resets and interrupted episodes included."""


class Try(NamedTuple):
    """A policy as it was tried."""

    policy: SeeingPolicy
    candidate: Artifact
    logs: Artifact
    value: float


def adapt(stages: Stages, robot: Robot, adapter: Adapter, begin: Begin) -> Artifact:
    """The policy that is left after the adapter's episodes on the robot; the unadapted one where they showed that one better."""
    stages.workspace.interface.require_same(robot.interface, "the workspace", "the robot")
    turning = _Turning(stages, robot, adapter, begin)
    known = [a for a in stages.workspace.store.all(KIND) if a.recipe.get(ADAPTATION) == turning.name]
    if known:
        return known[-1]
    try:
        made = turning.finished()
    finally:
        Gate(robot).disconnect()  # whatever the driver raises becomes one sentence
    shutil.rmtree(turning.progress, ignore_errors=True)
    return made


@dataclass(frozen=True)
class _Turning:
    """One adaptation at work."""

    stages: Stages
    robot: Robot
    adapter: Adapter
    begin: Begin

    @cached_property
    def made_of(self) -> dict[str, str]:
        in_place = self.begin.in_place
        return {"belief": self.begin.belief.id} | ({} if in_place is None else {"begin_with": in_place.id})

    @cached_property
    def recipe(self) -> dict[str, Any]:
        r, s = self.stages.recipe, self.stages
        trained = {"train": {"by": r.train.method.word, **asdict(r.train)}, "again": asdict(r.again)}
        return {"crank": s.crank, "seed": s.seed, "task": s.workspace.settings.task, **trained}

    @cached_property
    def name(self) -> str:
        """What the adaptation is called in recipes: it follows from all that it is made of."""
        return artifact_id(ADAPTATION, self.made_of, {**self.recipe, "adapt": self.settings})

    @property
    def settings(self) -> dict[str, Any]:
        return {"by": self.adapter.word, **asdict(self.adapter)}

    @cached_property
    def place(self) -> Place:
        belief = self.begin.belief
        return Place(self.stages.simulator(belief), self.stages.belief(belief), self.stages.workspace.task)

    @property
    def progress(self) -> Path:
        return self.stages.workspace.folder / "progress" / f"{PURPOSE}-{self.name}"

    def means(self, what: str) -> Means:
        r, s, in_place = self.stages.recipe, self.stages, self.begin.in_place

        def told(steps: int, figures: dict[str, float]) -> None:
            s.tell(f"training for {self.adapter.word}, {steps:,} steps, return {figures['return']:.2f}")

        policy, key = None if in_place is None else s.policy(in_place), key_for(s.seed, what, s.crank)
        return Means(r.train, r.again, key, policy, self.progress / what, told)

    def prepared(self) -> Artifact:
        """What the adapter trains before the robot is asked."""

        def build(folder: Path) -> dict[str, Any]:
            save_policy(folder, self.adapter.prepared(self.place, self.means("prepare")))
            return {}

        recipe = {**self.recipe, "prepare": self.adapter.preparation()}
        return self.stages.workspace.store.make(PREPARED, self.made_of, recipe, build)

    def finished(self) -> Artifact:
        """Turn the generator to its end, and keep what it returns."""
        prepared, tried = self.prepared(), list[Try]()
        tries = self.adapter.tries(self.stages.policy(prepared), self.place, self.means(PURPOSE))
        try:
            policy = next(tries)
            while True:
                tried.append(self.tried(policy, prepared, len(tried)))
                policy = tries.send(good_part(_log(tried[-1].logs)))
        except StopIteration as ended:
            adapted: SeeingPolicy = ended.value
        return self.kept(adapted, prepared, tried)

    def tried(self, policy: SeeingPolicy, prepared: Artifact, k: int) -> Try:
        """One episode of this policy on the robot, unless there is a log of it already."""
        store, s = self.stages.workspace.store, self.stages
        recipe = {ADAPTATION: self.name, "try": k}
        candidate = store.make(CANDIDATE, {"prepared": prepared.id}, {"crank": s.crank, **recipe}, _saving(policy))
        known = [a for a in store.all("logs") if a.recipe.get(ADAPTATION) == self.name and a.recipe["try"] == k]
        logs = known[0] if known else self.recorded(candidate, recipe)
        value = worth(s.workspace.task, good_part(_log(logs)))
        s.tell(f"try {k + 1} of {self.adapter.episodes}: return {value:.2f}", (k + 1) / max(self.adapter.episodes, 1))
        return Try(policy, candidate, logs, value)

    def recorded(self, candidate: Artifact, recipe: dict[str, Any]) -> Artifact:
        """The episode itself. Nobody is tried before a forecast was made of the first, and none past the budget."""
        # A forecast speaks of as many episodes as are then recorded.
        one = replace(self.stages, recipe=replace(self.stages.recipe, deploy=1))
        forecast = one.forecast(self.begin.belief, candidate) if recipe["try"] == 0 else None
        if forecast is not None and not self.stages.recipe.force:
            require_promising(forecast, self.stages.recipe.least)

        def policy(k: int) -> SeeingPolicy:
            self.require_seconds()  # after an interrupted episode has been counted
            return self.stages.policy(candidate)

        plan = Plan(1, self.stages.workspace.task.seconds, policy, recipe=recipe)
        logs = self.stages.collect(self.robot, PURPOSE, plan, {"policy": candidate.id})
        if forecast is not None:
            self.stages.outcome(forecast, logs)
        return logs

    def require_seconds(self) -> None:
        """Raise where the next episode could take more robot seconds than are left."""
        store, budget_s = self.stages.workspace.store, self.begin.budget_s
        spent = robot_seconds_spent(store, having={ADAPTATION: self.name})
        needed = self.stages.workspace.task.seconds + self.robot.interface.period_s + RESET_S
        if budget_s is not None and spent + needed > budget_s:
            raise GaplessError(
                f"the next episode of {self.adapter.word!r} takes up to {needed:.0f} robot seconds with its reset, and "
                f"{spent:.0f} of {budget_s:.0f} are spent. Allow more with --robot-seconds to go on from there."
            )

    def kept(self, adapted: SeeingPolicy, prepared: Artifact, tried: list[Try]) -> Artifact:
        """The adapted policy as an artifact; the one that was tried first where the robot showed that one better."""
        s, first = self.stages, _same(tried, tried[0].policy) if tried else []
        mine = _same(tried, adapted)
        better = not (mine and first and np.mean([t.value for t in mine]) < np.mean([t.value for t in first]))
        policy, shown = (adapted, mine) if better else (tried[0].policy, first)
        made_of = {**self.made_of, "prepared": prepared.id} | {f"logs{k}": t.logs.id for k, t in enumerate(tried)}
        made_of |= {f"{TRIED}{k}": t.candidate.id for k, t in enumerate(shown)}

        def build(folder: Path) -> dict[str, Any]:
            save_policy(folder, policy)
            look = Look(*self.place[:3], s.recipe.train.worlds, key_for(s.seed, "look", s.crank))
            value, passed = look.at(policy)
            return {
                "curve": [[0, value]], "steps": 0, "return": value, "passed": passed, "solved": passed == 1.0,
                "afresh": False, KEPT: None, "method": self.adapter.word, "adapted": _differs(policy, tried),
                "robot_seconds": robot_seconds_spent(s.workspace.store, having={ADAPTATION: self.name}),
                "tries": [_figures(t, t in shown) for t in tried],
            }  # fmt: skip

        recipe = {**self.recipe, "adapt": self.settings, ADAPTATION: self.name}
        return s.workspace.store.make(KIND, made_of, recipe, build)


def _saving(policy: SeeingPolicy) -> Callable[[Path], dict[str, Any]]:
    def build(folder: Path) -> dict[str, Any]:
        save_policy(folder, policy)
        return {}

    return build


def _log(logs: Artifact) -> Log:
    """What is on disk, whether it has just been recorded or before an interruption."""
    return read_logs(logs.folder / LOGS)[0]


def _same(tried: list[Try], policy: SeeingPolicy) -> list[Try]:
    return [t for t in tried if bool(eqx.tree_equal(t.policy, policy))]


def _differs(policy: SeeingPolicy, tried: list[Try]) -> bool:
    """Whether it is another policy than the one that was tried first."""
    return bool(tried) and not bool(eqx.tree_equal(policy, tried[0].policy))


def _figures(of: Try, kept: bool) -> dict[str, Any]:
    (episode,) = of.logs.figures["episodes"]
    shown = {name: episode[name] for name in ("episode", "passed", "stopped")}
    return {**shown, "return": of.value, "robot_seconds": of.logs.figures["robot_seconds"], "kept": kept}
