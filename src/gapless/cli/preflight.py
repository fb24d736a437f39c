"""`gapless preflight`: is it a bug or a gap?"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from gapless.core import GaplessError
from gapless.core.artifact import write_text
from gapless.engine import open_workspace, usable
from gapless.learn import Finding, apply_fix
from gapless.logs import mapping_to_toml, read_mapping

from .console import say, table, working
from .options import InWorkspace


@dataclass(frozen=True)
class Preflight(InWorkspace):
    """Bug or gap? Look for wrong conventions in the logs: order, signs, units, offsets, clocks, gravity, lost samples.

    Exit status 1 if there is one. What plausible parameters explain is a gap, and `gapless learn` closes it.
    """

    folder: tyro.conf.Positional[Path | None] = None
    """The workspace folder, as --workspace names it."""
    fix: Path | None = None
    """The mapping file of `gapless import`: what can be put right there is, and the file is written anew."""

    def run(self) -> dict[str, Any]:
        workspace = self.open() if self.folder is None else open_workspace(self.folder)
        stored = workspace.store.all("logs")
        logs = usable(stored)
        with workspace.locked(), working("preflight") as tell:
            stages = self.stages(workspace, tell)
            found = stages.preflight(logs)
            stages.keep_findings(found, {f"logs{k}": a.id for k, a in enumerate(stored)})
        if not found:
            say(f"No wrong convention in {len(logs)} logs: what is left between model and robot is a gap.")
            return {"findings": [], "logs": len(logs)}
        rows = [[f.kind, ", ".join(f.channels), f.evidence, f.advice] for f in found]
        table(f"Wrong conventions in {len(logs)} logs", ["bug", "channels", "evidence", "what to do"], rows)
        if self.fix is not None:
            _fix(self.fix, found)
        return {"findings": [f.to_dict() for f in found], "logs": len(logs)}

    def status(self, printed: dict[str, Any]) -> int:
        return 1 if printed["findings"] else 0


def _fix(path: Path, found: list[Finding]) -> None:
    """Put right what a mapping can, and name what it cannot."""
    mapping, done = read_mapping(path), 0
    for finding in found:
        try:
            mapping, done = apply_fix(mapping, finding), done + 1
        except GaplessError as error:
            say(str(error))
    if done:
        write_text(path, mapping_to_toml(mapping))
        say(f"Wrote {done} of {len(found)} fixes to {path}. Import the logs again with it, into a new workspace.")
