"""`gapless trust`: vouch for a workspace that came from somebody else."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro

from gapless.engine import open_workspace
from gapless.engine.trust import trust

from .console import say
from .options import Common


@dataclass(frozen=True)
class Trust(Common):
    """Let a workspace run the task code that it names, and read its model's files outside its folder.

    Only workspaces that came from elsewhere, were moved, or name something new need it. Read the code first.
    """

    folder: tyro.conf.Positional[Path] = field(kw_only=True)
    """The workspace."""

    def run(self) -> dict[str, Any]:
        workspace = open_workspace(self.folder)
        claims = workspace.claims
        trust(workspace.folder, claims)
        for place in (*claims["task"][:1], *claims["model"]):
            say(f"{workspace.folder} may use {place}.")
        if not any(claims.values()):
            say(f"{workspace.folder} names nothing beyond itself; there was nothing to trust.")
        return {"workspace": workspace.folder, "trusted": claims}
