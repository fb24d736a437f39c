"""Options that subcommands share."""

from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

import tyro

from gapless.core import GaplessError
from gapless.engine import Recipe, Stages, Workspace, open_workspace
from gapless.train import RECIPES

RECIPE = "--recipe"


@dataclass(frozen=True)
class Common:
    """Options of every command."""

    seed: int = 0
    """Decides everything random: the same seed on the same logs gives the same result."""
    json: Path | None = None
    """Write what is printed to this file, as JSON."""

    def status(self, printed: dict[str, Any]) -> int:
        """The exit status that goes with what was printed."""
        return 0


class Group:
    """A command that is one of several: all that is asked of it is asked of the one that was chosen."""

    what: Any

    @property
    def json(self) -> Path | None:
        return self.what.json

    def status(self, printed: dict[str, Any]) -> int:
        return self.what.status(printed)

    def run(self) -> dict[str, Any]:
        return self.what.run()


@dataclass(frozen=True)
class InWorkspace(Common):
    """Options of commands that work in a workspace."""

    workspace: Path = Path()
    """The workspace folder; the current one, or the only one below it, if not given."""
    recipe: Recipe = field(default_factory=Recipe)
    """Settings of the loop. --recipe WORD (ppo, …) chooses how policies are trained; its settings are those shown then."""

    def open(self) -> Workspace:
        return open_workspace(self.workspace)

    def stages(self, workspace: Workspace, tell: Any) -> Stages:
        return Stages(workspace, self.recipe, self.seed, tell=tell)


@dataclass(frozen=True)
class OnRobot(InWorkspace):
    """Options of commands that move a robot."""

    robot: str = field(kw_only=True)
    """twin:NAME?seed=0&tier=A, lerobot:NAME?port=…, path/to/file.py:Class, or package.module:Class."""
    force: bool = False
    """Send a policy to the robot whatever its forecast and its scenarios."""


def asked_recipe(arguments: list[str]) -> tuple[list[str], Recipe | None]:
    """The arguments without `--recipe WORD`, and the recipe of that word: one word changes how policies are trained, and
    `--recipe.train.method.…` are then its settings."""
    if RECIPE not in arguments:
        return arguments, None
    at = arguments.index(RECIPE)
    if at + 1 == len(arguments):
        raise GaplessError(f"{RECIPE} wants a word: {', '.join(RECIPES)}.")
    return arguments[:at] + arguments[at + 2 :], Recipe.by(arguments[at + 1])


def with_recipe(kind: type[InWorkspace], recipe: Recipe) -> InWorkspace:
    """A command with this recipe; what it needs and nobody has said yet is still missing."""
    needed = {f.name: tyro.MISSING for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}
    return kind(recipe=recipe, **needed)
