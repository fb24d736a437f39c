"""From an episode that failed on a robot, this one or another of the fleet, to a scenario that guards against it."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gapless.core import Artifact, GaplessError, Gaussian, Log, Verdict
from gapless.learn.reconstruct import Reconstructed, reconstruct
from gapless.logs import read_logs
from gapless.nets.stored_policy import load_policy
from gapless.tasks.scenario import Must, Scenario

from .episodes import LOGS, good_part
from .parts import physics_of
from .scenarios import play
from .stages import Stages
from .workspace import SETTINGS, Workspace

DATASET = Path("meta") / "info.json"


@dataclass(frozen=True)
class Failure:
    """An episode that failed, and where it was found."""

    log: Log
    verdict: Verdict
    place: Workspace | None
    """The workspace that it was recorded in; None for a dataset that no workspace owns."""
    artifact: Artifact | None

    @property
    def episode(self) -> Any:
        return self.log.source.get("episode")


def find_failure(workspace: Workspace, spec: str, of: Workspace | None, episode: int | None) -> Failure:
    """The failed episode that a spec names: a dataset's folder, a workspace, an episode's number, or an artifact's id."""
    place = of or workspace
    candidates = _candidates(place, spec)
    chosen = [f for f in _judged(workspace, candidates) if episode is None or f.episode == episode]
    if not chosen:
        raise GaplessError(f"there is no episode {'' if episode is None else episode} in {spec!r}. Name another one.")
    failed = [f for f in chosen if not f.verdict.passed]
    if not failed:
        said = f"episode {chosen[-1].episode} passed ({chosen[-1].verdict.reason})"
        raise GaplessError(f"nothing failed in {spec!r}: {said}. Name an episode that failed.")
    return failed[-1]


def scenario_of(stages: Stages, failure: Failure, name: str | None) -> tuple[Scenario, Reconstructed]:
    """The scenario that a failed episode becomes: its start and its robot as far as the log tells them, and what failed."""
    workspace = stages.workspace
    newest = (workspace.store.all("belief") or [None])[-1]
    physics, log = physics_of(workspace.simulator, newest), good_part(failure.log)
    prior = _before(stages, failure, {p.name for p in physics.parameters})
    found = reconstruct(physics, prior, log, stages.recipe.identify, stages.seed)
    whose = workspace.settings.name if failure.place is None else failure.place.settings.name
    source = {"robot": whose, "log": "" if failure.artifact is None else failure.artifact.id}
    source |= {"episode": failure.episode, "failed": failure.verdict.reason, "chi_square": found.chi_square}
    made = Scenario(
        name or f"{whose} episode {failure.episode}",
        workspace.task.name,
        found.start,
        belief=found.belief.to_dict(),
        must=Must(True, within=_left(failure.log)),
        source=source,
    )
    return made, found


def fails_again(stages: Stages, failure: Failure, scenario: Scenario) -> tuple[int, int] | None:
    """In how many of the reconstructed worlds the policy that failed on the robot fails again; None where it is not known."""
    if failure.place is None or failure.artifact is None:
        return None
    known = {a.id: a for a in failure.place.store.all("policy")}
    policy = known.get(failure.artifact.parents.get("policy", ""))
    if policy is None:
        return None
    newest = (stages.workspace.store.all("belief") or [None])[-1]
    verdicts = play(stages, newest, load_policy(policy.folder), scenario)
    return sum(not v.passed for v in verdicts), len(verdicts)


def file_name(name: str) -> str:
    """A scenario's name as that of its file."""
    return f"{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') or 'scenario'}.json"


def _candidates(place: Workspace, spec: str) -> list[tuple[Log, Workspace | None, Artifact | None]]:
    folder = Path(spec)
    if (folder / SETTINGS).is_file():
        other = Workspace(folder)
        return [c for a in other.store.all("logs") for c in _of(other, a)]
    if (folder / DATASET).is_file():
        return [(log, None, None) for log in read_logs(folder)]
    every = [c for a in place.store.all("logs") for c in _of(place, a)]
    numbered = [c for c in every if spec.isdigit() and c[0].source.get("episode") == int(spec)]
    return numbered or _of(place, place.store.get(spec))


def _of(place: Workspace, artifact: Artifact) -> list[tuple[Log, Workspace | None, Artifact | None]]:
    if not (artifact.folder / LOGS).is_dir():
        raise GaplessError(
            f"{artifact.id} is a {artifact.kind} and holds no logs. Name logs; the report lists their ids."
        )
    return [(log, place, artifact) for log in read_logs(artifact.folder / LOGS)]


def _judged(workspace: Workspace, candidates: list[tuple[Log, Workspace | None, Artifact | None]]) -> list[Failure]:
    found = []
    for log, place, artifact in candidates:
        workspace.interface.require_same(log.interface, "the workspace", "the log")
        # Motions that teach end when they like; only a policy can fail.
        if artifact is None or artifact.recipe.get("purpose") != "excite":
            found.append(Failure(log, workspace.task.judge(log), place, artifact))
    return found


def _before(stages: Stages, failure: Failure, known: set[str]) -> Gaussian:
    """What was believed about the log's robot before the log: under what its policy was trained, or else the prior.

    A belief that was learnt from the log must not be asked to learn from it again.
    """
    if failure.place is not None and failure.artifact is not None:
        made = {a.id: a for a in failure.place.store.all()}
        policy = made.get(failure.artifact.parents.get("policy", ""))
        belief = None if policy is None else made.get(policy.parents.get("belief", ""))
        if belief is not None:
            there = replace(stages, workspace=failure.place).known(belief)
            if set(there.names) <= known:
                return there
    return stages.prior()


def _left(log: Log) -> dict[str, tuple[float, float]]:
    """The limits of the channels that left theirs."""
    found = {}
    for channel in log.interface.measurements:
        values = log.measurements[channel.name]
        finite = values[np.isfinite(values)]
        if finite.size and (finite.min() < channel.low or finite.max() > channel.high):
            found[channel.name] = (max(channel.low, -1e9), min(channel.high, 1e9))
    return found
