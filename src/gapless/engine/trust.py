"""Which workspaces may run the task they name and read a model's files outside their folder: those the user vouched for.

A workspace is a folder that anybody can hand on. What it names beyond itself is used only if it is recorded outside it,
in the user's own state folder: `gapless new` records what the user typed, `gapless trust` what the user has read.
"""

import hashlib
import importlib.util
import json
import os
from collections.abc import Mapping
from pathlib import Path

from gapless.core import GaplessError
from gapless.core.artifact import write_text
from gapless.core.reading import LARGEST_JSON, plain_object, read_limited

LARGEST_CODE = 2**22
"""Bytes of a task's file at most."""

Claims = Mapping[str, list[str]]
"""`task` and `model` → what a workspace names beyond itself, spelled so that another meaning is another spelling."""


def task_claim(folder: Path, spec: str) -> list[str]:
    """The class that a task's spec names; if its file lies in the workspace, also the file's hash."""
    place, _, name = spec.rpartition(":")
    if not place.endswith(".py"):
        _require_elsewhere(folder, spec)
        return [spec]
    file = task_file(folder, spec)
    # A file elsewhere is the user's own to edit. One in the workspace may change with whoever handed it on.
    inside = file.is_relative_to(folder.resolve())
    return [f"{file}:{name}", *([hashlib.sha256(read_limited(file, LARGEST_CODE)).hexdigest()] if inside else [])]


def task_file(folder: Path, spec: str) -> Path:
    """The file that a spec file.py:Class names, which is relative to the workspace."""
    return (folder / spec.rpartition(":")[0]).resolve()


def trust(folder: Path, claims: Claims) -> None:
    """Record that this workspace may use what it names, until it names something else."""
    path = record_path(folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_text(path, json.dumps({"folder": str(folder.resolve()), **claims}, indent=1))
    except OSError as error:
        raise GaplessError(
            f"{path} cannot be written ({error.strerror}), where trust in {folder} is recorded. "
            "Set XDG_STATE_HOME to a folder of yours."
        ) from None


def require_trusted(folder: Path, kind: str, claim: list[str]) -> None:
    """Raise unless the user vouched for this."""
    if claim and _recorded(folder).get(kind) != claim:
        verb = "runs the code of the task" if kind == "task" else "reads, for its model,"
        raise GaplessError(
            f"the workspace {folder} {verb} {claim[0]!r}, which nobody on this machine has vouched for. "
            f"Look at it, and if you trust it run `gapless trust {folder}`."
        )


def record_path(folder: Path) -> Path:
    """The file that says what a workspace may use: $XDG_STATE_HOME/gapless/trusted/<hash of its folder>.json."""
    given = os.environ.get("XDG_STATE_HOME", "")
    state = Path(given) if Path(given).is_absolute() else Path("~/.local/state").expanduser()
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    return state / "gapless" / "trusted" / f"{name}.json"


def _recorded(folder: Path) -> dict[str, object]:
    path = record_path(folder)
    if not path.is_file():
        return {}
    try:
        found = plain_object(read_limited(path, LARGEST_JSON))
    except ValueError as error:
        raise GaplessError(f"{path} is damaged ({error}). Run `gapless trust {folder}` to write it again.") from None
    return found if found.get("folder") == str(folder.resolve()) else {}


def _require_elsewhere(folder: Path, spec: str) -> None:
    """Raise when package.module:Class means a file in the workspace, whose content a name would not bind."""
    top = spec.partition(":")[0].partition(".")[0]
    try:
        found = importlib.util.find_spec(top) if top.isidentifier() else None
    except (ImportError, ValueError):
        found = None
    places = [] if found is None else [found.origin, *(found.submodule_search_locations or ())]
    if any(Path(place).resolve().is_relative_to(folder.resolve()) for place in places if place):
        raise GaplessError(f"the task {spec!r} is a module inside {folder}. Name its file, as path/to/file.py:Class.")
