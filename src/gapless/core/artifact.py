"""Products of the loop: written once, atomically, with parents, recipe and figures, and found again by what made them."""

import hashlib
import json
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from .errors import GaplessError
from .reading import plain_object, read_limited

RECORD = "artifact.json"
LARGEST_RECORD = 2**26
"""Bytes of a record at most."""


@dataclass(frozen=True)
class Artifact:
    """One product. Its id follows from kind, parents and recipe; its content hash from its files and figures."""

    kind: str
    id: str
    parents: dict[str, str]
    recipe: dict[str, Any]
    figures: dict[str, Any]
    content: str
    made: dict[str, Any]
    """When and in how many seconds; no hash covers it."""
    folder: Path

    def file(self, name: str) -> Path:
        return self.folder / name


class Store:
    """A folder of artifacts. What has its record is whole; anything else is a leftover that nobody reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, kind: str, parents: Mapping[str, str], recipe: Mapping[str, Any]) -> Artifact | None:
        """The product of this recipe on these parents, if it was ever finished."""
        return self._read(self.folder / f"{kind}-{artifact_id(kind, parents, recipe)}")

    def make(
        self,
        kind: str,
        parents: Mapping[str, str],
        recipe: Mapping[str, Any],
        build: Callable[[Path], Mapping[str, Any]],
    ) -> Artifact:
        """The product of this recipe: found, or built into an empty folder by `build`, which returns the figures."""
        found = self.find(kind, parents, recipe)
        if found is not None:
            return found
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{kind}-{artifact_id(kind, parents, recipe)}"
        began = datetime.now(UTC)
        draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=self.folder))
        try:
            figures = plain(build(draft))
            record = {
                "kind": kind,
                "id": name.removeprefix(f"{kind}-"),
                "parents": dict(parents),
                "recipe": plain(recipe),
                "figures": figures,
                "content": _content(draft, figures),
                "made": {"at": began.isoformat(), "seconds": (datetime.now(UTC) - began).total_seconds()},
            }
            write_text(draft / RECORD, json.dumps(record, indent=1, ensure_ascii=False))
            _publish(draft, self.folder / name)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        made = self._read(self.folder / name)
        assert made is not None
        return made

    def all(self, kind: str | None = None) -> list[Artifact]:
        """Every finished product, the oldest first."""
        if not self.folder.is_dir():
            return []
        read = (self._read(f) for f in self.folder.iterdir() if not f.name.startswith("."))
        listed = [a for a in read if a is not None and kind in (None, a.kind)]
        return sorted(listed, key=lambda a: (a.made["at"], a.id))

    def get(self, id_: str) -> Artifact:
        """The product with this id, or whose id begins so."""
        found = [a for a in self.all() if a.id.startswith(id_)]
        if len(found) != 1:
            raise GaplessError(
                f"{'no' if not found else 'more than one'} artifact has the id {id_!r} in {self.folder}."
            )
        return found[0]

    def sweep(self) -> None:
        """Remove what an interrupted build left behind."""
        for leftover in self.folder.glob(".*-*"):
            shutil.rmtree(leftover, ignore_errors=True)

    def _read(self, folder: Path) -> Artifact | None:
        if not (folder / RECORD).is_file():
            return None
        try:
            return _artifact(plain_object(read_limited(folder / RECORD, LARGEST_RECORD)), folder)
        except (ValueError, TypeError, KeyError) as error:
            raise GaplessError(
                f"{folder / RECORD} is not the record of an artifact ({error}). Remove that folder to build it anew."
            ) from None


def artifact_id(kind: str, parents: Mapping[str, str], recipe: Mapping[str, Any]) -> str:
    """Twelve hexadecimal digits that follow from what the product is made of."""
    spelled = json.dumps([kind, dict(parents), plain(recipe)], sort_keys=True)
    return hashlib.sha256(spelled.encode()).hexdigest()[:12]


def plain(value: Any) -> Any:
    """The same value made of what JSON knows; numbers that JSON cannot carry become null."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic) or hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Path):
        return str(value)
    return value


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; a link in its place is replaced and not followed."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        draft.unlink(missing_ok=True)
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _artifact(record: dict[str, Any], folder: Path) -> Artifact:
    """The artifact that a record describes; raises where a value is of another kind than `make` writes."""
    kinds = {"kind": str, "id": str, "parents": dict, "recipe": dict, "figures": dict, "content": str, "made": dict}
    for key, kind in kinds.items():
        if not isinstance(record[key], kind):
            raise ValueError(f"its {key} is {record[key]!r:.60}")
    if not all(isinstance(parent, str) for parent in record["parents"].values()):
        raise ValueError("its parents are not ids")
    if not isinstance(record["made"].get("at"), str):
        raise ValueError("it does not say when it was made")
    if folder.name != f"{record['kind']}-{record['id']}":
        raise ValueError(f"it belongs to {record['kind']}-{record['id']:.60}")
    return Artifact(**record, folder=folder)


def _content(folder: Path, figures: Any) -> str:
    digest = hashlib.sha256(json.dumps(figures, sort_keys=True).encode())
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(str(path.relative_to(folder)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _publish(draft: Path, final: Path) -> None:
    if final.is_symlink():
        final.unlink()
    elif final.exists():  # without a record, or `find` would have returned it
        shutil.rmtree(final)
    draft.replace(final)
    handle = os.open(final.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
