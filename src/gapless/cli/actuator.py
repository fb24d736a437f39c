"""`gapless actuator`: which model of each joint's actuator do the logs bear out?"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from gapless.engine import open_workspace
from gapless.engine.actuators import copy_actuator, expected_seconds, joints_to_learn, learn_actuator
from gapless.learn.actuators import Climb

from .console import say, table, working
from .options import Common


@dataclass(frozen=True)
class ActuatorCommand(Common):
    """Learn each joint's actuator: from an ideal one over motor, friction and latency to networks, as far as logs bear it out.

    From torque where a channel measures it, else from motion alone, with inertia and load as the model has them.
    """

    workspace: tyro.conf.Positional[Path] = Path()
    """The workspace folder; the current one, or the only one below it, if not given."""
    joint: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """A driven joint, as often as wanted; all of them if not given."""
    out: Path | None = None
    """A folder to copy what is learned to, in a folder for each joint."""
    climb: Climb = field(default_factory=Climb)
    """How the ladder is climbed."""

    def run(self) -> dict[str, Any]:
        workspace = open_workspace(self.workspace)
        joints = joints_to_learn(workspace, self.joint)
        seconds = expected_seconds(workspace, joints, self.climb)
        say(f"{', '.join(d.joint for d in joints)}: about {spoken(seconds)} where nothing is stored yet.")
        with workspace.locked(), working("actuator") as tell:
            made = [learn_actuator(workspace, d, self.climb, self.seed, tell) for d in joints]
        for artifact in made:
            actuator_table(artifact.figures)
            if self.out is not None:
                say(f"Wrote {copy_actuator(artifact, self.out)}.")
        return {"actuators": [{"actuator": a.id, **a.figures} for a in made]}


def actuator_table(figures: dict[str, Any]) -> None:
    """The rungs of one joint and what the chosen one says."""
    unit, chosen = figures["unit"], figures["chosen"]
    rows = [[r["name"], r["error"], f"{r['share']:.1%}", "chosen" * (r["name"] == chosen)] for r in figures["rungs"]]
    what = "torque" if figures["fitted_to"] == "torque" else "position, open loop"
    title = (
        f"{figures['joint']}: held-out error of {what}, {figures['held_out']} windows, fitted to {figures['windows']}"
    )
    table(title, ["rung", f"error in {unit}", "of the signal", ""], rows)
    title = f"{chosen} corrects {figures['below']}, which says" if figures["below"] else f"What {chosen} says"
    table(title, ["parameter", "unit", "value"], [[p["name"], p["unit"], p["value"]] for p in figures["params"]])
    words = [f"{name} {value:.3g}{' more' * (name == 'armature')}" for name, value in figures["mujoco"].items()]
    say(f"In MuJoCo's words, at the joint: {', '.join(words)}.")
    say(f"{figures['joint']}: {figures['why']}")


def spoken(seconds: float) -> str:
    """A duration as people say it."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"
