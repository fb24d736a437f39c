"""`gapless report`: the page of one workspace, film included, or one page for several."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from gapless.core import Artifact, GaplessError, Store
from gapless.engine import Recipe, Stages, Workspace, open_workspace
from gapless.logs import read_logs
from gapless.report import FILM, Chapter, shoot, write_comparison, write_report

from .console import say, working
from .options import InWorkspace


@dataclass(frozen=True)
class Report(InWorkspace):
    """Write the workspace's page, or one page for several workspaces: one HTML file that needs nothing else."""

    folders: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Workspaces; with more than one, they are shown side by side. Without any, --workspace."""
    out: Path | None = None
    """Where to; report.html in the workspace, or comparison.html here for several, if not given."""
    film: bool = True
    """Film the newest policy on the robot against its simulation; once for each, where MuJoCo can draw without a screen."""

    def run(self) -> dict[str, Any]:
        opened = [open_workspace(folder) for folder in self.folders] or [self.open()]
        if len(opened) > 1:
            page = write_comparison(chapters(opened), self.out or Path("comparison.html"))
        else:
            page = report(opened[0], self.out, self.film)
        say(f"Wrote {page}.")
        return {"page": page}


def report(workspace: Workspace, out: Path | None, film: bool = True) -> Path:
    """The workspace's page, with a film if it is wanted and can be made."""
    without = make_film(workspace) if film else "it was not asked for"
    where = out or workspace.folder / "report.html"
    return write_report(workspace.store, where, workspace.settings.name, _subtitle(workspace), without)


def chapters(workspaces: list[Workspace]) -> list[Chapter]:
    """The workspaces by name; by folder where two have the same name."""
    named = Counter(w.settings.name for w in workspaces)
    names = [w.settings.name if named[w.settings.name] == 1 else str(w.folder) for w in workspaces]
    return [Chapter(name, _subtitle(w), w.store) for name, w in zip(names, workspaces, strict=True)]


def make_film(workspace: Workspace) -> str:
    """Make the film of the newest policy on the robot, or find it; the reason where there can be none, else nothing."""
    scene = unseen_scene(workspace.store)
    if scene is None:
        return ""
    deployed, belief = scene
    recipe = {"crank": deployed.recipe["crank"]}
    try:
        if workspace.store.find(FILM, _made_of(deployed, belief), recipe) is None:
            with workspace.locked(), working("film"):
                _make(workspace, deployed, belief, recipe)
    except (GaplessError, OSError, ValueError) as error:  # a page without its film is better than none
        return str(error)
    return ""


def unseen_scene(store: Store) -> tuple[Artifact, Artifact] | None:
    """The newest logs that a policy drove, and the newest belief that was not learned from them."""
    deployed = [a for a in store.all("logs") if a.recipe.get("purpose") in ("deploy", "collect")]
    for logs in deployed[-1:]:
        for belief in reversed(store.all("belief")):
            if logs.id not in belief.parents.values():
                return logs, belief
    return None


def _make(workspace: Workspace, deployed: Artifact, belief: Artifact, recipe: dict[str, Any]) -> None:
    def build(folder: Path) -> dict[str, Any]:
        longest = max(read_logs(deployed.folder / "logs"), key=len)
        known = Stages(workspace, Recipe(), 0).identified(belief)
        return shoot(workspace.simulator, longest, known, folder / f"{FILM}.mp4")

    workspace.store.make(FILM, _made_of(deployed, belief), recipe, build)


def _made_of(deployed: Artifact, belief: Artifact) -> dict[str, str]:
    return {"logs": deployed.id, "belief": belief.id}


def _subtitle(workspace: Workspace) -> str:
    return f"Robot {workspace.interface.robot}, task {workspace.settings.task}"
