"""The subcommands: each a frozen dataclass whose fields are its options and whose `run` returns what it printed."""

import hashlib
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from gapless.core import Artifact, Block, GaplessError, Robot
from gapless.core.artifact import write_text
from gapless.engine import (
    Plan,
    Recipe,
    Stages,
    Workspace,
    cranks,
    episode_figures,
    new_workspace,
    require_promising,
    robot_seconds_spent,
    standing,
    train_policy,
)
from gapless.engine.monitors import monitor, watched
from gapless.engine.scenarios import prove, require_no_regression
from gapless.exchange import load_onnx_policy
from gapless.logs import (
    check_log,
    content_digest,
    import_logs,
    mapping_to_toml,
    propose_mapping,
    read_mapping,
    write_logs,
)
from gapless.robots import Gate, find_robot

from .actuator import ActuatorCommand
from .adapt import AdaptCommand
from .clone import CloneRobotCommand
from .console import say, table, working
from .doctor import Doctor
from .excite import ExciteCommand
from .export import Export
from .film import FilmCommand
from .fleet import FleetCommand
from .options import Common, InWorkspace, OnRobot, policy_to_use
from .preflight import Preflight
from .report import Report, report
from .scenario import ScenarioCommand
from .tables import (
    causes_table,
    check_table,
    forecast_table,
    gap_table,
    parameter_table,
    scenario_table,
    turn_table,
)
from .trust import Trust
from .world import World

Positional = tyro.conf.Positional


@dataclass(frozen=True)
class New(Common):
    """Make a workspace: a folder with the model, its proposed parameters and everything that will be learned.

    Look at params.toml (what may be doubted) and interface.json (channels, units, limits) in it before going on.
    """

    folder: Positional[Path] = field(kw_only=True)
    """The folder to make."""
    model: str = field(kw_only=True)
    """An MJCF or URDF file, or the name of a built-in model (cartpole, furuta, puck, arm, hopper)."""
    task: str = field(kw_only=True)
    """A built-in task (swingup, rotary-swingup, slide, hold-load, hop, hop-back), one made for the robot (reach:CHANNEL,
    hold:CHANNEL, follow:CHANNEL, recover:CHANNEL; =VALUE names the target), or file.py:Class."""
    period_s: float = 0.02
    """Control period; rounded to the model's time step."""

    def run(self) -> dict[str, Any]:
        made = new_workspace(self.folder, self.model, self.task, self.seed, self.period_s)
        if made.settings.added:
            say(f"{made.settings.added} The completed model is {made.folder / made.settings.model}.")
        rows = [[p.name, p.unit, p.nominal, p.low, p.high, p.family, p.free] for p in made.parameters]
        table(
            f"What {made.folder}/params.toml doubts",
            ["parameter", "unit", "nominal", "low", "high", "family", "free"],
            rows,
        )
        say(f"Made {made.folder}. Next: gapless collect --workspace {made.folder} --robot …, or gapless crank.")
        return {"workspace": made.folder, "parameters": [p.__dict__ for p in made.parameters]}


@dataclass(frozen=True)
class Collect(OnRobot):
    """Record logs on a robot, through the safety gate: motions that teach, or a policy of yours."""

    seconds: float = 20.0
    """Seconds to record; whole episodes until they are reached."""
    policy: str | None = None
    """An ONNX file, or `last` for the newest policy of the workspace; without it, motions that teach."""

    def run(self) -> dict[str, Any]:
        workspace, robot = self.open(), find_robot(self.robot)
        workspace.interface.require_same(robot.interface, "the workspace", "the robot")
        with workspace.locked(), working("collect") as tell:
            stages = self.stages(workspace, tell)
            try:
                made = self._record(stages, workspace, robot)
            finally:
                Gate(robot).disconnect()
        columns = ["episode", "seconds", "return", "passed", "stopped"]
        rows = [
            [e["episode"], e["seconds"], e["return"], e["passed"], e["stopped"] or ""] for e in made.figures["episodes"]
        ]
        table("Recorded", columns, rows)
        spent = robot_seconds_spent(workspace.store)
        say(
            f"{made.figures['robot_seconds']:.0f} robot seconds, {spent:.0f} in this workspace so far, resets included."
        )
        return made.figures

    def _record(self, stages: Stages, workspace: Workspace, robot: Robot) -> Artifact:
        if self.policy is None:
            beliefs = workspace.store.all("belief")
            count = math.ceil(self.seconds / self.recipe.excite_s)
            return stages.excite(robot, beliefs[-1] if beliefs else None, count)
        count = math.ceil(self.seconds / workspace.task.seconds)
        policy, made_of = self._policy(stages, workspace)
        plan = Plan(count, workspace.task.seconds, lambda k: policy)
        return stages.collect(robot, "collect", plan, made_of)

    def _policy(self, stages: Stages, workspace: Workspace) -> tuple[Block, dict[str, str]]:
        if self.policy == "last":
            newest, belief = newest_pair(workspace)
            before = policy_before(workspace, newest)
            if not self.force:
                require_promising(stages.forecast(belief, newest), self.recipe.least)
                require_no_regression(prove(stages, belief, newest, before))
            if not self.recipe.monitor:
                return stages.policy(newest), {"policy": newest.id}
            watch = monitor(stages, belief, newest, workspace.store.all("logs"))
            return watched(stages, newest, watch, before), {"policy": newest.id, "monitor": watch.id}
        if self.recipe.monitor:
            raise GaplessError(
                "the monitor watches policies that were trained here. Drop --recipe.monitor, or use `last`."
            )
        path = Path(str(self.policy))
        found = load_onnx_policy(path, workspace.interface)
        return found, {"onnx": hashlib.sha256(path.read_bytes()).hexdigest()[:12]}


@dataclass(frozen=True)
class Import(InWorkspace):
    """Bring in logs that you already have, checked on the way in.

    CSV, NPZ, Parquet and MCAP files; folders: ROS 2 bags, LeRobot datasets, CSV files that belong together.
    """

    files: Positional[tuple[Path, ...]] = field(kw_only=True)
    """The files or folders."""
    mapping: Path | None = None
    """A TOML file that says which column is which channel; guessed from names if not given."""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        if self.mapping is not None:
            mapping = read_mapping(self.mapping)
        else:
            mapping = propose_mapping(self.files[0], workspace.interface)
            missing = sorted(
                set(workspace.interface.command_names + workspace.interface.measurement_names) - set(mapping.channels)
            )
            if missing:
                written = workspace.folder / "mapping.toml"
                write_text(written, mapping_to_toml(mapping))
                raise GaplessError(
                    f"no column of {self.files[0]} could be matched with {', '.join(missing)}. "
                    f"Complete {written} and run again with --mapping {written}."
                )
        logs = import_logs(self.files, mapping, workspace.interface)
        digest = hashlib.sha256((content_digest(self.files) + mapping_to_toml(mapping)).encode())
        warnings = [w for log in logs for w in check_log(log)]
        with workspace.locked():

            def build(folder: Path) -> dict[str, Any]:
                write_logs(folder / "logs", logs, workspace.task.name)
                return {"robot_seconds": 0.0, "episodes": [episode_figures(workspace.task, log) for log in logs]}

            recipe = {"crank": 0, "purpose": "import", "files": digest.hexdigest()}
            made = workspace.store.make("logs", {}, recipe, build)
        for warning in warnings:
            say(f"note: {warning}")
        say(f"Imported {len(logs)} logs, {sum(log.seconds for log in logs):.1f} s in all.")
        return {**made.figures, "warnings": warnings}


@dataclass(frozen=True)
class Gap(InWorkspace):
    """How wrong is the simulator, and why? Prediction error on held-out logs beside the noise floor, and its causes."""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        with workspace.locked(), working("gap") as tell:
            beliefs, logs, stages = workspace.store.all("belief"), all_logs(workspace), self.stages(workspace, tell)
            made = stages.gap(beliefs[-1] if beliefs else None, logs)
            causes = stages.attribute(beliefs[-1], logs, some_policy(workspace)) if beliefs else None
        gap_table(made.figures)
        if causes is None:
            return made.figures
        causes_table(causes.figures)
        return {**made.figures, "attribution": causes.figures}


@dataclass(frozen=True)
class Learn(InWorkspace):
    """Identify the parameters from all logs and say what causes the gap.

    --recipe.parts learns what they leave over, too; --recipe.clone pulls a clone of the robot towards the logs. Either is used
    where it predicts held-out logs better.
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


@dataclass(frozen=True)
class TrainPolicy(InWorkspace):
    """Train a policy over everything that the belief still allows, going on from the last policy."""

    scratch: bool = False
    """Start from nothing even if there is a policy."""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        with workspace.locked(), working("train") as tell:
            beliefs, policies = workspace.store.all("belief"), workspace.store.all("policy")
            begin = None if self.scratch or not policies else policies[-1]
            made = train_policy(self.stages(workspace, tell), beliefs[-1] if beliefs else None, begin)
        f = made.figures
        table("Trained", ["policy", "steps", "return", "passing"], [[made.id, f["steps"], f["return"], f["passed"]]])
        return f


@dataclass(frozen=True)
class Check(InWorkspace):
    """Does the newest policy pass, in simulators that the belief allows, and in the workspace's scenarios?

    Scenarios are files in its folder `scenarios`; the policy in place before this one plays them in the same worlds.
    """

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        with workspace.locked(), working("check") as tell:
            policy, belief = newest_pair(workspace)
            stages = self.stages(workspace, tell)
            made = stages.check(belief, policy)
            proved = prove(stages, belief, policy, policy_before(workspace, policy))
        check_table(made.figures)
        if proved is None:
            return made.figures
        scenario_table(proved.figures)
        return {**made.figures, **proved.figures}


@dataclass(frozen=True)
class Forecast(InWorkspace):
    """What will the newest policy score on the robot, and how sure are we?"""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        with workspace.locked(), working("forecast") as tell:
            policy, belief = newest_pair(workspace)
            made = self.stages(workspace, tell).forecast(belief, policy)
        forecast_table(made.figures)
        return made.figures


@dataclass(frozen=True)
class Crank(OnRobot):
    """Turn the whole loop: collect, learn, train, check, forecast, deploy; again and again. Goes on where it stopped.

    Each robot second is spent where it is expected to add most return, and the reasons are printed and kept;
    --recipe.schedule fixed spends them as counted beforehand.
    """

    n: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 3
    """How many turns there shall have been."""

    def run(self) -> dict[str, Any]:
        recipe = replace(self.recipe, force=self.force or self.recipe.force)
        return {"cranks": turn(self.open(), find_robot(self.robot), recipe, self.seed, self.n)}


@dataclass(frozen=True)
class Demo(Common):
    """Three cranks on the built-in cart-pole, whose physics differs from its data sheet in a way nobody tells us."""

    folder: Path = Path("demo")
    """The workspace to make, or to go on in."""
    robot: str = "twin:cartpole?seed=0&tier=A"
    """Which robot."""
    n: int = 3
    """How many turns."""

    def run(self) -> dict[str, Any]:
        made = self.folder / "workspace.json"
        workspace = (
            Workspace(self.folder) if made.is_file() else new_workspace(self.folder, "cartpole", "swingup", self.seed)
        )
        figures = turn(workspace, find_robot(self.robot), Recipe(), self.seed, self.n)
        page = report(workspace, None)
        say(f"The page with everything: {page}")
        return {"cranks": figures, "page": page}


def turn(workspace: Workspace, robot: Robot, recipe: Recipe, seed: int, count: int) -> list[dict[str, Any]]:
    """Cranks with progress and a table."""
    figures = []
    with workspace.locked(), working("crank") as tell:

        def named(crank: int) -> Any:
            return lambda message, share=None: tell(f"{crank} of {count} · {message}", share)

        for done in cranks(workspace, robot, recipe, seed, count, named):
            figures.append(done.figures())
            for why in figures[-1]["why"]:
                say(f"crank {done.crank}: {why}.")
    turn_table(workspace.settings.name, figures)
    return figures


def all_logs(workspace: Workspace) -> list[Artifact]:
    found = workspace.store.all("logs")
    if not found:
        raise GaplessError(f"{workspace.folder} has no logs yet. Run `gapless collect` or `gapless import` first.")
    return found


def some_policy(workspace: Workspace) -> Artifact | None:
    return policy_to_use(workspace) if workspace.store.all("policy") else None


def newest_pair(workspace: Workspace) -> tuple[Artifact, Artifact | None]:
    """The policy to stand by and the newest belief, if there is one."""
    beliefs = workspace.store.all("belief")
    return policy_to_use(workspace), beliefs[-1] if beliefs else None


def policy_before(workspace: Workspace, policy: Artifact) -> Artifact | None:
    """The policy that this one would take the place of, if there was one."""
    listed = workspace.store.all("policy")
    earlier = listed[: [a.id for a in listed].index(policy.id)]
    return standing(workspace.store, earlier) if earlier else None


COMMANDS: dict[str, type] = {
    "new": New,
    "collect": Collect,
    "import": Import,
    "excite": ExciteCommand,
    "preflight": Preflight,
    "gap": Gap,
    "learn": Learn,
    "actuator": ActuatorCommand,
    "fleet": FleetCommand,
    "clone": CloneRobotCommand,
    "train": TrainPolicy,
    "check": Check,
    "scenario": ScenarioCommand,
    "forecast": Forecast,
    "adapt": AdaptCommand,
    "crank": Crank,
    "report": Report,
    "film": FilmCommand,
    "export": Export,
    "doctor": Doctor,
    "demo": Demo,
    "trust": Trust,
    "world": World,
}
