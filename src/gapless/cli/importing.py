"""`gapless import`: logs that were recorded elsewhere."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from gapless.core import GaplessError
from gapless.core.artifact import write_text
from gapless.engine import episode_figures
from gapless.logs import (
    check_log,
    content_digest,
    import_logs,
    mapping_to_toml,
    propose_mapping,
    read_mapping,
    write_logs,
)

from .console import say
from .options import InWorkspace


@dataclass(frozen=True)
class Import(InWorkspace):
    """Bring in logs that you already have, checked on the way in.

    CSV, NPZ, Parquet and MCAP files; folders: ROS 2 bags, LeRobot datasets, CSV files that belong together.
    """

    files: Positional[tuple[Path, ...]] = field(kw_only=True)
    """The files or folders."""
    mapping: Path | None = None
    """A TOML file that says which column is which channel; guessed from names if not given."""

    def run(self) -> dict[str, Any]:
        workspace = self.open()
        if self.mapping is not None:
            mapping = read_mapping(self.mapping)
        else:
            mapping = propose_mapping(self.files[0], workspace.interface)
            missing = sorted(
                set(workspace.interface.command_names + workspace.interface.measurement_names) - set(mapping.channels)
            )
            if missing:
                written = workspace.folder / "mapping.toml"
                write_text(written, mapping_to_toml(mapping))
                raise GaplessError(
                    f"no column of {self.files[0]} could be matched with {', '.join(missing)}. "
                    f"Complete {written} and run again with --mapping {written}."
                )
        logs = import_logs(self.files, mapping, workspace.interface)
        digest = hashlib.sha256((content_digest(self.files) + mapping_to_toml(mapping)).encode())
        warnings = [w for log in logs for w in check_log(log)]
        with workspace.locked():

            def build(folder: Path) -> dict[str, Any]:
                write_logs(folder / "logs", logs, workspace.task.name)
                return {"robot_seconds": 0.0, "episodes": [episode_figures(workspace.task, log) for log in logs]}

            recipe = {"crank": 0, "purpose": "import", "files": digest.hexdigest()}
            made = workspace.store.make("logs", {}, recipe, build)
        for warning in warnings:
            say(f"note: {warning}")
        say(f"Imported {len(logs)} logs, {sum(log.seconds for log in logs):.1f} s in all.")
        return {**made.figures, "warnings": warnings}
