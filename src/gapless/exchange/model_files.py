"""The meshes, textures and height fields of a model, taken along under plain names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco

from gapless.core import GaplessError
from gapless.core.reading import read_limited

KINDS = {"meshes": "mesh_pathadr", "hfields": "hfield_pathadr", "skins": "skin_pathadr", "textures": "tex_pathadr"}
"""Elements of a model with a file → where the compiled model notes its path."""
LARGEST_FILE = 2**28
"""Bytes of a mesh or texture at most."""


@dataclass(frozen=True)
class NamedFile:
    """An element of a model that names a file: for a cube of six pictures, one of its sides."""

    element: Any
    noted_in: str
    """The field of the compiled model that leads to the path."""
    side: int | None = None

    @property
    def name(self) -> str:
        return self.element.file if self.side is None else self.element.cubefiles[self.side]

    def rename(self, name: str) -> None:
        if self.side is None:
            self.element.file = name
        else:
            self.element.cubefiles[self.side] = name


def take_along(spec: mujoco.MjSpec, compiled: mujoco.MjModel, source: Path, folder: str) -> dict[str, bytes]:
    """Make the spec name its files as `folder/name`; their contents by name.

    The model must have been loaded before: what it may read was settled there.
    """
    taken: dict[str, bytes] = {}
    for file in list(_named_files(spec)):
        place = _place(spec, compiled, source, file)
        name = f"{len(taken)}-{re.sub(r'[^A-Za-z0-9._-]', '_', place.name)}"
        taken[name] = read_limited(place, LARGEST_FILE)
        file.rename(name)
    if taken:
        spec.meshdir = spec.texturedir = folder
        spec.strippath = False
        spec.assets = {f"{folder}/{name}": content for name, content in taken.items()}
    return taken


def _named_files(spec: mujoco.MjSpec) -> Iterator[NamedFile]:
    for kind, field in KINDS.items():
        yield from (NamedFile(element, field) for element in getattr(spec, kind) if element.file)
    for texture in spec.textures:
        sides = (side for side, name in enumerate(texture.cubefiles) if name)
        yield from (NamedFile(texture, KINDS["textures"], side) for side in sides)


def _place(spec: mujoco.MjSpec, compiled: mujoco.MjModel, source: Path, file: NamedFile) -> Path:
    if file.side is None:  # MuJoCo has noted where it found the file
        first = int(getattr(compiled, file.noted_in)[file.element.id])
        place = compiled.paths[first : compiled.paths.index(b"\0", first)].decode() if first >= 0 else file.name
    else:
        place = Path(spec.texturedir, file.name.replace("\\", "/"))
    if not (source.parent / place).is_file():
        raise GaplessError(f"the model {source} names {file.name}, which cannot be found. Put it where the model says.")
    return (source.parent / place).resolve()
