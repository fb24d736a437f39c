"""Decisions as artifacts: every option with its gain, its robot seconds and why, and what was taken."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gapless.core import Artifact

from .options import Kind, Option, chosen, reason
from .stages import Stages

KIND = "decision"


def decide(stages: Stages, step: int, made_of: dict[str, str], offers: Callable[[], Sequence[Option]]) -> Artifact:
    """The decision of a moment, made once; `made_of` names everything that its options are estimated from."""
    r = stages.recipe
    recipe: dict[str, Any] = {"crank": stages.crank, "seed": stages.seed, "step": step, "worth": r.worth}
    recipe |= {"draws": r.draws, "excite_s": r.excite_s, "excite": asdict(r.excite)}
    recipe |= {"parts": r.parts, "clone": r.clone, "adapt": r.adapt}

    def build(folder: Path) -> dict[str, Any]:
        options = offers()
        taken = chosen(options, r.worth)
        return {
            "options": [asdict(o) for o in options],
            "taken": list(taken),
            "why": reason(options, taken, r.worth),
            "worth": r.worth,
        }

    return stages.workspace.store.make(KIND, made_of, recipe, build)


def taken_by(decision: Artifact) -> list[Kind]:
    """What was decided on, in order."""
    return decision.figures["taken"]


def gain_of(decision: Artifact, kind: Kind) -> float:
    """What an option was taken for; nothing where it was not."""
    return sum(o["gain"] for o in decision.figures["options"] if o["kind"] == kind and kind in taken_by(decision))
