"""`gapless fleet`: what several robots of one kind have in common, and the parameters to begin the next one with."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tyro

from gapless.core import GaplessError, Gaussian, Parameter
from gapless.core.artifact import write_text
from gapless.engine import Recipe, Stages, Workspace, open_workspace
from gapless.learn import Fleet, fleet
from gapless.simulators import write_parameters

from .console import say, table
from .options import Common
from .stored import latest


@dataclass(frozen=True)
class FleetCommand(Common):
    """What do my robots have in common? Shares what was learnt about each one with the others and with the next one."""

    folders: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Workspaces of robots of one kind, each with a belief."""
    out: Path | None = None
    """Write the parameters of a robot that nobody has measured yet to this params.toml."""

    def run(self) -> dict[str, Any]:
        opened = [open_workspace(folder) for folder in self.folders]
        found = fleet([self._believed(w) for w in opened])
        mean, known, spread = found.common.mean(), found.common.deviation(), found.spread
        own = [belief.mean() for belief in found.each]
        rows = [
            [n, float(mean[n]), float(known[n]), spread[n], *(float(m[n]) for m in own)] for n in found.common.names
        ]
        names = [w.settings.name for w in opened]
        table("The fleet", ["parameter", "mean", "known to", "from robot to robot", *names], rows)
        if self.out is not None:
            write_text(self.out, write_parameters(_next(opened[0].parameters, found)))
            say(f"Wrote {self.out}: put it into the next robot's workspace.")
        return {"common": found.common.to_dict(), "spread": spread, "next": found.next.to_dict()}

    def _believed(self, workspace: Workspace) -> Gaussian:
        newest = latest(workspace, "belief", "Run `gapless learn` there first.")
        return Stages(workspace, Recipe(), self.seed).known(newest)


def _next(parameters: tuple[Parameter, ...], found: Fleet) -> tuple[Parameter, ...]:
    """The parameters with the fleet's mean as nominal value and four deviations as the plausible range."""
    mean, deviation = found.next.mean(), found.next.deviation()
    unknown = sorted(set(mean) - {p.name for p in parameters})
    if unknown:
        raise GaplessError(f"the beliefs hold {unknown[0]!r}, which the first workspace's params.toml does not.")

    def moved(p: Parameter) -> Parameter:
        if not p.free:
            return p
        centre, reach = float(mean[p.name]), 2 * float(deviation[p.name])
        low, high = max(p.low, centre - reach), min(p.high, centre + reach)
        return replace(p, nominal=min(max(centre, low), high), low=low, high=high)

    return tuple(moved(p) if p.name in mean else p for p in parameters)
