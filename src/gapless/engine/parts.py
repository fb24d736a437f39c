"""Learned parts among the artifacts: stored beside the belief that they belong to, and put around the simulator again."""

import json
from pathlib import Path
from typing import Any

from gapless.core import Artifact, Belief, Chosen, read_belief
from gapless.core.artifact import write_text
from gapless.learn import Learnt, with_residual
from gapless.simulators import MujocoSimulator
from gapless.simulators.parts import MEMBER, has_residual, load_residual, save_residual

BELIEF, ALONE = "belief.json", "identified.json"
"""The belief, and, where parts were learned beside it, what was identified without them."""


def write_learned(folder: Path, identified: Belief, learnt: Learnt | None) -> None:
    """The belief, alone or with the residual that it belongs to; which member acts is a choice in it."""
    if learnt is None:
        write_text(folder / BELIEF, json.dumps(identified.to_dict()))
        return
    belief = Chosen(learnt.identified.belief, MEMBER, learnt.residual.members)
    write_text(folder / BELIEF, json.dumps(belief.to_dict()))
    write_text(folder / ALONE, json.dumps(identified.to_dict()))
    save_residual(folder, learnt.residual)


def identified_alone(belief: Artifact) -> Belief:
    """The belief about the physics alone, as it was before parts were learned beside it."""
    return read_belief(belief.file(ALONE if has_residual(belief.folder) else BELIEF))


def simulator_of(physics: MujocoSimulator, belief: Artifact | None) -> MujocoSimulator:
    """The simulator that a belief is about: the physics, with the parts that were learned beside it."""
    if belief is None or not has_residual(belief.folder):
        return physics
    return with_residual(physics, load_residual(belief.folder))


def residual_figures(learnt: Learnt) -> dict[str, Any]:
    """Where a learned residual acts, and how much better held-out logs are predicted with it."""
    corrections, held_out = learnt.residual.corrections, learnt.held_out
    return {
        "acts_on": [c.name for c in corrections],
        "bounds": [float(c.bound) for c in corrections],
        "members": learnt.residual.members,
        "held_out_before": held_out.before,
        "held_out_after": held_out.after,
        "ratio_high": held_out.ratio_high,
    }
