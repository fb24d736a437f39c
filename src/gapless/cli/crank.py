"""`gapless crank` and `gapless demo`: the whole loop."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from gapless.core import Robot
from gapless.engine import Recipe, Workspace, cranks, new_workspace
from gapless.robots import find_robot

from .console import say, working
from .options import Common, OnRobot
from .report import report
from .tables import turn_table


@dataclass(frozen=True)
class Crank(OnRobot):
    """Turn the whole loop: collect, learn, train, check, forecast, deploy; again and again. Goes on where it stopped.

    Each robot second is spent where it is expected to add most return, and the reasons are printed and kept;
    --recipe.schedule fixed spends them as counted beforehand.
    """

    n: Annotated[int, tyro.conf.arg(aliases=["-n"])] = 3
    """How many turns there shall have been."""

    def run(self) -> dict[str, Any]:
        recipe = replace(self.recipe, force=self.force or self.recipe.force)
        return {"cranks": turn(self.open(), find_robot(self.robot), recipe, self.seed, self.n)}


@dataclass(frozen=True)
class Demo(Common):
    """Three cranks on the built-in cart-pole, whose physics differs from its data sheet in a way nobody tells us."""

    folder: Path = Path("demo")
    """The workspace to make, or to go on in."""
    robot: str = "twin:cartpole?seed=0&tier=A"
    """Which robot."""
    n: int = 3
    """How many turns."""

    def run(self) -> dict[str, Any]:
        made = self.folder / "workspace.json"
        workspace = (
            Workspace(self.folder) if made.is_file() else new_workspace(self.folder, "cartpole", "swingup", self.seed)
        )
        figures = turn(workspace, find_robot(self.robot), Recipe(), self.seed, self.n)
        page = report(workspace, None)
        say(f"The page with everything: {page}")
        return {"cranks": figures, "page": page}


def turn(workspace: Workspace, robot: Robot, recipe: Recipe, seed: int, count: int) -> list[dict[str, Any]]:
    """Cranks with progress and a table."""
    figures = []
    with workspace.locked(), working("crank") as tell:

        def named(crank: int) -> Any:
            return lambda message, share=None: tell(f"{crank} of {count} · {message}", share)

        for done in cranks(workspace, robot, recipe, seed, count, named):
            figures.append(done.figures())
            for why in figures[-1]["why"]:
                say(f"crank {done.crank}: {why}.")
    turn_table(workspace.settings.name, figures)
    return figures
