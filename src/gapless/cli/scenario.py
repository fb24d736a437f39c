"""`gapless scenario`: behaviour tests, and how an episode that failed on a robot becomes one."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from gapless.core import GaplessError
from gapless.engine import Workspace, open_workspace
from gapless.engine.failures import Failure, fails_again, file_name, find_failure, scenario_of
from gapless.engine.scenarios import scenarios_of
from gapless.engine.workspace import SCENARIOS
from gapless.tasks.scenario import Scenario
from gapless.tasks.scenario_file import scenario_to_dict, write_scenario

from .console import say, table, working
from .options import Group, InWorkspace


@dataclass(frozen=True)
class FromLog(InWorkspace):
    """Turn an episode that failed on a robot into a scenario, reconstructed in the learned simulator.

    Its start is fitted on the first stretch of the log, its robot is what was believed before and what the log says, and what
    must hold is what failed.
    """

    log: tyro.conf.Positional[str] = field(kw_only=True)
    """An episode's number, an artifact's id, a dataset's folder, or another robot's workspace."""
    of: Path | None = None
    """The workspace that the number or id belongs to, where it is another robot's."""
    episode: int | None = None
    """Which episode, where there are several; the newest that failed if not given."""
    name: str | None = None
    """What to call the scenario."""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        other = None if self.of is None else open_workspace(self.of)
        with workspace.locked(), working("scenario") as tell:
            tell("reading the log")
            failure = find_failure(workspace, self.log, other, self.episode)
            stages = self.stages(workspace, tell)
            tell("fitting the start and the robot")
            scenario, found = scenario_of(stages, failure, self.name)
            path = _place(workspace, scenario)
            tell("playing it again")
            again = fails_again(stages, failure, scenario)
            if again is not None:
                scenario = replace(scenario, source=scenario.source | {"fails_again": again[0], "of": again[1]})
            write_scenario(path, scenario)
        _tell(failure, found.start, again)
        say(f"Wrote {path}. `gapless check` plays it from now on.")
        return {"file": path, **scenario_to_dict(scenario)}


@dataclass(frozen=True)
class List(InWorkspace):
    """The scenarios of the workspace and what they ask for."""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        found = scenarios_of(workspace)
        if not found:
            folder = workspace.folder / SCENARIOS
            say(f"There are no scenarios yet. Write some into {folder}, or run `gapless scenario from-log`.")
        rows = [[s.name, len(s.disturbances), _demands(s), s.source.get("failed", "")] for s in found]
        table("Scenarios", ["scenario", "disturbances", "must", "came of"], rows)
        return {"scenarios": [scenario_to_dict(s) for s in found]}


@dataclass(frozen=True)
class ScenarioCommand(Group):
    """Behaviour tests: what must hold, from which start, in which worlds, whatever goes wrong. `gapless check` plays them."""

    what: Annotated[FromLog, tyro.conf.subcommand(name="from-log")] | Annotated[List, tyro.conf.subcommand(name="list")]


def _place(workspace: Workspace, scenario: Scenario) -> Path:
    """Where the scenario is written; never over another."""
    path = workspace.folder / SCENARIOS / file_name(scenario.name)
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        raise GaplessError(f"{path} is there already. Remove it, or choose another name with --name.")
    return path


def _tell(failure: Failure, start: dict[str, tuple[float, float]], again: tuple[int, int] | None) -> None:
    say(f"Episode {failure.episode} failed: {failure.verdict.reason}.")
    rows = [[name, (low + high) / 2, (high - low) / 12**0.5] for name, (low, high) in start.items()]
    table("Where it started", ["joint state", "value", "deviation"], rows)
    if again is not None:
        say(f"The policy that failed on the robot fails again in {again[0]} of {again[1]} reconstructed worlds.")


def _demands(scenario: Scenario) -> str:
    must = scenario.must
    said = ["the task passes"] if must.passes else []
    said += [] if must.return_at_least is None else [f"return ≥ {must.return_at_least:g}"]
    said += [f"{name} within {low:g} … {high:g}" for name, (low, high) in must.within.items()]
    said += [f"{n} at {s.at:g} ± {s.by:g} after {s.after_s:g} s" for n, s in must.settles.items()]
    return ", ".join(said)
