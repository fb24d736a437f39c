"""The second best of a crank's trainings: kept beside the best, and a policy of its own once the robot is to try it, too.

Policies that simulation cannot tell apart differ by half of their return on a robot whose physics is not all known: who did worse
than foretold is best compared with another one, there.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gapless.core import Artifact, Store
from gapless.nets.stored_policy import save_policy
from gapless.train import Trained
from gapless.train.learnt import save_learnt

from .incumbent import KEPT, deployments, shown_by
from .stages import Stages

RUNNER_UP = "runner_up"
"""Folder within a policy's that holds it, figure of that policy with its own, and recipe's mark of the policy it becomes."""


def save_runner_up(folder: Path, others: Sequence[Trained]) -> dict[str, Any] | None:
    """Write the best of these into a policy's folder; its figures, or None where there is none."""
    if not others:
        return None
    best = max(others, key=lambda trained: trained.value)
    (folder / RUNNER_UP).mkdir()
    save_policy(folder / RUNNER_UP, best.policy)
    if best.learnt is not None:
        save_learnt(folder / RUNNER_UP, best.learnt)
    return {"curve": best.curve, "return": best.value, "passed": best.passed, "solved": best.passed == 1.0}


def runner_up(stages: Stages, policy: Artifact) -> Artifact | None:
    """The second best of the training that a policy came from, as a policy of its own; None where there was none."""
    figures = policy.figures.get(RUNNER_UP)
    if figures is None:
        return None

    def build(folder: Path) -> dict[str, Any]:
        shutil.copytree(policy.folder / RUNNER_UP, folder, dirs_exist_ok=True)
        shared = {name: policy.figures[name] for name in ("steps", "inset")}
        return {**shared, **figures, "afresh": False, KEPT: None, RUNNER_UP: None}

    return stages.workspace.store.make("policy", {"best": policy.id}, {"crank": stages.crank, RUNNER_UP: True}, build)


def contenders(store: Store) -> list[Artifact]:
    """All policies that may be stood by, the newest last; a runner-up once it has been on the robot, and behind the best of its
    training only where it showed more there."""
    listed = store.all("policy")
    for other in [p for p in listed if RUNNER_UP in p.recipe]:
        listed.remove(other)
        best = next(k for k, p in enumerate(listed) if p.id == other.parents["best"])
        shown, mine = (shown_by(deployments(store, p)).returns for p in (listed[best], other))
        if mine:
            listed.insert(best + int(not shown or np.mean(mine) > np.mean(shown)), other)
    return listed
