"""`gapless new`: a workspace for a robot and a task."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from gapless.engine import new_workspace

from .console import say, table
from .options import Common


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
