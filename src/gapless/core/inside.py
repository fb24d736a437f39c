"""Folders that somebody else filled: nothing that is read or written in them leads out of them."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from .errors import GaplessError


def require_inside(folder: Path, names: Iterable[str]) -> None:
    """Raise when one of these entries of a folder, or something below it, is a link that leads out or no file at all."""
    root = folder.resolve()
    for name in names:
        for path in _below(folder / name):
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                raise GaplessError(
                    f"{path} leads out of {folder}. Replace the link by what it points to, or remove it."
                )
            if path.exists() and not path.is_file() and not path.is_dir():
                raise GaplessError(f"{path} is neither a file nor a folder. Remove it.")


def _below(path: Path) -> Iterator[Path]:
    """The entry itself, if it is there, and all entries below it; links are not followed."""
    if path.is_symlink() or path.exists():
        yield path
    for place, folders, files in os.walk(path, followlinks=False):
        for name in (*folders, *files):
            yield Path(place, name)
