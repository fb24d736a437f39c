"""The meshes, textures and height fields of a model, taken along under plain names."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco

from gapless.core import GaplessError
from gapless.core.reading import read_limited

KINDS = {"meshes": "mesh_pathadr", "hfields": "hfield_pathadr", "skins": "skin_pathadr", "textures": "tex_pathadr"}
"""Elements of a model with a file → where the compiled model notes its path."""
LARGEST_FILE = 2**28
"""Bytes of a mesh or texture at most."""


def take_along(spec: mujoco.MjSpec, compiled: mujoco.MjModel, source: Path, folder: str) -> dict[str, bytes]:
    """Make the spec name its files as `folder/name`; their contents by name.

    The model must have been loaded before: what it may read was settled there.
    """
    taken: dict[str, bytes] = {}
    for thing, side in _named_files(spec):
        place = _place(spec, compiled, source, (thing, side))
        name = f"{len(taken)}-{re.sub(r'[^A-Za-z0-9._-]', '_', place.name)}"
        taken[name] = read_limited(place, LARGEST_FILE)
        if side is None:
            thing.file = name
        else:
            thing.cubefiles[side] = name
    if taken:
        spec.meshdir = spec.texturedir = folder
        spec.strippath = False
        spec.assets = {f"{folder}/{name}": content for name, content in taken.items()}
    return taken


def _named_files(spec: mujoco.MjSpec) -> Iterator[tuple[Any, int | None]]:
    """Everything in a model that names a file: the element, and for a cube of six pictures which side."""
    yield from ((thing, None) for kind in KINDS for thing in getattr(spec, kind) if thing.file)
    for texture in spec.textures:
        yield from ((texture, side) for side, name in enumerate(texture.cubefiles) if name)


def _place(spec: mujoco.MjSpec, compiled: mujoco.MjModel, source: Path, which: tuple[Any, int | None]) -> Path:
    thing, side = which
    if side is None:  # MuJoCo has noted where it found the file
        kind = next(kind for kind in KINDS if any(thing is t or thing == t for t in getattr(spec, kind)))
        first = int(getattr(compiled, KINDS[kind])[thing.id])
        found = compiled.paths[first : compiled.paths.index(b"\0", first)].decode() if first >= 0 else ""
        named = thing.file
    else:
        named = thing.cubefiles[side].replace("\\", "/")
        found = f"{spec.texturedir}/{named}" if spec.texturedir else named
    place = source.parent / found
    if not found or not place.is_file():
        raise GaplessError(f"the model {source} names {named}, which cannot be found. Put it where the model says.")
    return place.resolve()
