"""The stage that trains: a belief → a policy, the best of the recipe's ways there, kept look by look and drawn as curves."""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from gapless.core import Artifact, Belief, Simulator, Task, key_for
from gapless.core.artifact import artifact_id
from gapless.exchange.curves import open_curves
from gapless.nets.stored_policy import save_policy
from gapless.train import Along, Checkpoint, Train, Trained, train
from gapless.train.inset import Inset, inset
from gapless.train.learnt import load_learnt, save_learnt

from .incumbent import KEPT, deployments, gives_way, shown_by
from .margins import margins
from .recipe import FINISHED
from .runner_up import RUNNER_UP, save_runner_up
from .stages import Stages

KIND = "policy"
CURVES = "curves"
"""Folder of the event files in a workspace."""
Way = tuple[Train, Artifact | None]
"""A recipe, and the policy to go on from."""


class _Place(NamedTuple):
    """Where a crank's trainings take place, and for what."""

    simulator: Simulator
    over: Belief
    task: Task


def train_policy(stages: Stages, belief: Artifact | None, begin_with: Artifact | None) -> Artifact:
    """A policy for everything that the belief allows: the best of the recipe's ways there.

    Where the policy to begin with is of a kind that the recipe does not go on from, it begins anew.
    """
    workspace, crank = stages.workspace, stages.crank or None
    if begin_with is not None and not _goes_on(stages, begin_with):
        stages.tell("the policy before is of another kind, beginning anew")
        begin_with = None
    seen = [] if begin_with is None else deployments(workspace.store, begin_with, crank)
    asked = stages.recipe.ways(begin_with is not None)
    ways: list[Way] = [(way, begin_with if goes_on else None) for way, goes_on in asked]
    named = {"belief": belief, "begin_with": begin_with}
    made_of = {role: a.id for role, a in (named | {f"seen{k}": a for k, a in enumerate(seen)}).items() if a is not None}
    made_from = {"crank": stages.crank, "seed": stages.seed, "task": workspace.settings.task}
    made_from["train"] = [{"by": recipe.method.word, **asdict(recipe)} for recipe, _ in ways]
    made_from["inset"] = stages.recipe.inset
    progress = workspace.folder / "progress" / f"train-{artifact_id(KIND, made_of, made_from)}"

    def build(folder: Path) -> dict[str, Any]:
        place = _place(stages, belief)
        found = _found(stages, place, ways, progress)
        best = max(found, key=lambda trained: trained.value)
        kept = begin_with is not None and not gives_way(shown_by(seen), found[0].curve[0][1], best.value)
        save_policy(folder, stages.policy(begin_with) if begin_with is not None and kept else best.policy)
        learnt = load_learnt(begin_with.folder) if begin_with is not None and kept else best.learnt
        if learnt is not None:
            save_learnt(folder, learnt)
        return {
            "curve": best.curve,
            "steps": sum(trained.steps for trained in found),
            "return": found[0].curve[0][1] if kept else best.value,
            "passed": best.passed,
            "inset": place.task.margins if isinstance(place.task, Inset) else None,
            "solved": best.passed == 1.0,
            "afresh": begin_with is not None and not kept and best is not found[0],
            KEPT: begin_with.id if begin_with is not None and kept else None,
            RUNNER_UP: save_runner_up(folder, _others(found, ways, None if kept else best)),
        }

    made = workspace.store.make(KIND, made_of, made_from, build)
    shutil.rmtree(progress, ignore_errors=True)
    return made


def _found(stages: Stages, place: _Place, ways: list[Way], progress: Path) -> list[Trained]:
    """What the ways led to; of beginnings from scratch, as many as it takes until one is finished."""
    found: list[Trained] = []
    for k, way in enumerate(ways):
        if k and way == ways[0] and max(trained.passed for trained in found) >= FINISHED:
            break
        found.append(_trained(stages, place, way, k, progress))
    return found


def _others(found: list[Trained], ways: list[Way], taken: Trained | None) -> list[Trained]:
    """What else the ways led to; one that brought no gain led nowhere."""
    led = [t for t, (_, before) in zip(found, ways, strict=False) if before is None or t.value > t.curve[0][1]]
    return [trained for trained in led if trained is not taken]


def _goes_on(stages: Stages, policy: Artifact) -> bool:
    """Whether every way that would go on from this policy can."""
    ways, loaded = stages.recipe.ways(True), stages.policy(policy)
    return all(recipe.method.takes(loaded) for recipe, goes_on in ways if goes_on)


def _place(stages: Stages, belief: Artifact | None) -> _Place:
    """The simulator of a belief, what is believed, and the task with its ends drawn in by what that may be wrong about."""
    simulator, over, task = stages.simulator(belief), stages.believed(belief), stages.workspace.task
    wide = margins(stages, belief) if stages.recipe.inset else {}
    if wide:
        task = inset(task, wide, simulator, over, key_for(stages.seed, "inset", stages.crank))
    return _Place(simulator, over, task)


def _trained(stages: Stages, place: _Place, way: Way, k: int, progress: Path) -> Trained:
    """By one way in this place, the kth.

    Every way of one crank is looked at with the same draws and starts, so that policies are compared and not dice."""
    (recipe, begin_with), workspace = way, stages.workspace
    run = f"{stages.crank}-{progress.name}-{k}"
    curves = open_curves(stages.recipe.curves, workspace.folder / CURVES, workspace.settings.name, run)

    def told(steps: int, figures: dict[str, float]) -> None:
        curves.note(steps, figures)
        share = min(1.0, steps / recipe.method.budget)
        stages.tell(f"training, {steps:,} steps, return {figures['return']:.2f}", share)

    begin = (None, None) if begin_with is None else (stages.policy(begin_with), load_learnt(begin_with.folder))
    along = Along(*begin, checkpoint=Checkpoint(progress / f"{k}"), tell=told, beginning=k)
    key = key_for(stages.seed, "train", stages.crank)
    try:
        return train(*place, recipe, key, along)
    finally:
        curves.close()
