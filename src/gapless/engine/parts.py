"""Learned parts among the artifacts: stored beside the belief that they belong to, and put around the simulator again."""

import json
from pathlib import Path
from typing import Any

from gapless.core import Artifact, Belief, Chosen, Simulator, read_belief
from gapless.core.artifact import write_text
from gapless.learn import Learnt, with_residual
from gapless.simulators import MujocoSimulator
from gapless.simulators.neural.stored import cloned, has_family, save_family
from gapless.simulators.parts import MEMBER, has_residual, load_residual, save_residual

from .clones import Attempt

BELIEF, ALONE = "belief.json", "identified.json"
"""The belief, and, where parts were learned beside it, what was identified without them."""


def write_learned(
    folder: Path, identified: Belief, learnt: Learnt | None, attempt: Attempt | None, physics: MujocoSimulator
) -> None:
    """The belief, alone, with the clone that was kept, or with the residual; which member acts is a choice in it."""
    robot, pulled = physics.interface.robot, None if attempt is None else attempt.kept
    belief = identified
    if pulled is not None:
        belief = pulled.belief
        save_family(folder, [{robot: clone} for clone in pulled.members], taught={robot: physics})
    elif learnt is not None:
        belief = Chosen(learnt.identified.belief, MEMBER, learnt.residual.members)
        save_residual(folder, learnt.residual)
    write_text(folder / BELIEF, json.dumps(belief.to_dict()))
    if belief is not identified:
        write_text(folder / ALONE, json.dumps(identified.to_dict()))


def identified_alone(belief: Artifact) -> Belief:
    """The belief about the physics alone, as it was before parts were learned beside it."""
    return read_belief(belief.file(ALONE if (belief.folder / ALONE).is_file() else BELIEF))


def physics_of(physics: MujocoSimulator, belief: Artifact | None) -> MujocoSimulator:
    """The physics that a belief is about, with the parts that were learned beside it."""
    if belief is None or not has_residual(belief.folder):
        return physics
    return with_residual(physics, load_residual(belief.folder))


def simulator_of(physics: MujocoSimulator, belief: Artifact | None) -> Simulator:
    """The simulator that a belief is about: the clone that it was stored with, or else the physics."""
    if belief is None or not has_family(belief.folder):
        return physics_of(physics, belief)
    return cloned(physics, belief.folder)


def residual_figures(learnt: Learnt) -> dict[str, Any]:
    """Where a learned residual acts, and how much better held-out logs are predicted with it."""
    corrections, held_out = learnt.residual.corrections, learnt.held_out
    return {
        "acts_on": [c.name for c in corrections],
        "terms": learnt.terms,
        "bounds": [float(c.bound) for c in corrections],
        "members": learnt.residual.members,
        "held_out_before": held_out.before,
        "held_out_after": held_out.after,
        "ratio_high": held_out.ratio_high,
    }
