"""The stage beside the crank that learns actuators: for each driven joint, the ladder climbed and the chosen rung stored."""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gapless.core import Artifact, GaplessError
from gapless.learn.actuators import Climb, Climbed, climb, save_actuator
from gapless.learn.actuators.guess import KNOWN
from gapless.learn.actuators.in_words import in_words
from gapless.learn.actuators.ladder import INERTIA
from gapless.logs import split
from gapless.nets.stored_actuator import FILES
from gapless.simulators.driven import Driven, driven_joints

from .usable import usable
from .workshop import Tell
from .workspace import Workspace

ACTUATOR = "actuator"
"""The kind of artifact that holds one joint's actuator."""
COMPILING_S, WINDOW_S = {"motion": 40.0, "torque": 25.0}, {"motion": 0.5, "torque": 0.1}
"""Seconds per joint, and per window and second of it, measured on two cores of 2026."""


def joints_to_learn(workspace: Workspace, names: Sequence[str] = ()) -> list[Driven]:
    """The named joints, or every joint with a command and a position; raises where there is none."""
    found, without = driven_joints(workspace.simulator)
    known = {d.joint: d for d in found}
    for name in names:
        if name in without:
            raise GaplessError(f"the actuator of {name!r} cannot be learnt: it {without[name]}.")
        if name not in known:
            raise GaplessError(f"{name!r} is no driven joint of the model (it has: {', '.join([*known, *without])}).")
    if not found:
        reasons = "; ".join(f"{name} {why}" for name, why in without.items())
        raise GaplessError(
            f"no driven joint of the model has a position channel ({reasons}). Add a <jointpos> sensor to the model and "
            "make the workspace anew."
        )
    return [known[name] for name in dict.fromkeys(names)] if names else found


def learn_actuator(workspace: Workspace, driven: Driven, recipe: Climb, seed: int, tell: Tell) -> Artifact:
    """One joint's actuator from every log of the workspace."""
    stored = workspace.store.all("logs")
    logs = split(usable(stored))
    made_of = {f"logs{k}": a.id for k, a in enumerate(stored)}
    how = {"crank": stored[-1].recipe.get("crank", 0), "seed": seed, "model": _model(workspace)}
    how |= {"driven": asdict(driven), "climb": asdict(recipe)}

    def build(folder: Path) -> dict[str, Any]:
        def told(rung: str, share: float) -> None:
            tell(f"{driven.joint}: {rung}", share)

        found = climb(workspace.simulator, driven, logs, recipe, seed, told)
        fit = found.chosen
        save_actuator(folder, fit.rung, fit.params, fit.law, fit.network)
        return actuator_figures(driven, found)

    return workspace.store.make(ACTUATOR, made_of, how, build)


def actuator_figures(driven: Driven, found: Climbed) -> dict[str, Any]:
    """What was tried, how wrong each was on held-out windows, and what was taken."""
    by_torque, params = driven.torque is not None, found.chosen.params
    free = [p for p in found.chosen.rung.parameters if p.name in params and p.name not in KNOWN]
    free = [p for p in free if p != INERTIA or not by_torque]
    words = in_words(
        found.chosen.rung, {p.name: params[p.name] for p in free} | {k: params[k] for k in KNOWN if k in params}
    )
    return {
        "joint": driven.joint,
        "told": driven.told,
        "channels": {k: getattr(driven, k) for k in ("command", "position", "velocity", "torque")},
        "fitted_to": "torque" if by_torque else "motion",
        "unit": driven.spelled("N m") if by_torque else driven.unit,
        "rungs": [
            {"name": name, "error": float(fit.errors.mean()), "share": float(fit.errors.mean()) / found.size}
            for name, fit in found.fits.items()
        ],
        "chosen": found.choice.rung,
        "below": found.chosen.below,
        "why": found.choice.why,
        "mujoco": words,
        "windows": found.windows[0],
        "held_out": found.windows[1],
        "network": found.chosen.network is not None,
        "params": [
            {"name": p.name, "unit": driven.spelled(p.unit), "value": float(np.ravel(params[p.name])[0])} for p in free
        ],
    }


def expected_seconds(workspace: Workspace, joints: Sequence[Driven], recipe: Climb) -> float:
    """About how long the actuators take to learn on two cores."""
    logs = usable(workspace.store.all("logs"))
    there = sum(log.seconds for log in logs) / recipe.window_s
    windowed = min(there, 4 / 3 * recipe.windows) * recipe.window_s
    kinds = ["motion" if d.torque is None else "torque" for d in joints]
    return sum(COMPILING_S[k] + WINDOW_S[k] * windowed for k in kinds) * (1.0 if recipe.networks else 0.4)


def copy_actuator(made: Artifact, folder: Path) -> Path:
    """The stored files of an actuator in a folder of the joint's name."""
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in str(made.figures["joint"]))
    place = folder / (name.lstrip(".") or "joint")
    place.mkdir(parents=True, exist_ok=True)
    for path in (FILES.weights(made.folder), FILES.description(made.folder)):
        shutil.copyfile(path, place / path.name)
    return place


def newest_actuator(workspace: Workspace, joint: str = "") -> Artifact:
    """The newest actuator of the joint, or of the only joint that has one."""
    newest = {str(a.figures.get("joint")): a for a in workspace.store.all(ACTUATOR)}
    if not newest:
        raise GaplessError(f"{workspace.folder} has no actuator yet. Run `gapless actuator {workspace.folder}` first.")
    if joint in newest:
        return newest[joint]
    if joint:
        raise GaplessError(f"{workspace.folder} has no actuator of {joint!r} (it has: {', '.join(sorted(newest))}).")
    if len(newest) > 1:
        raise GaplessError(f"{workspace.folder} has actuators of {', '.join(sorted(newest))}. Say which with --joint.")
    return next(iter(newest.values()))


def _model(workspace: Workspace) -> str:
    return hashlib.sha256(workspace.model_path.read_bytes()).hexdigest()[:16]
