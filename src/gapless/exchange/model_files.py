"""The meshes, textures and height fields of a model, taken along under plain names."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco

from gapless.core import GaplessError
from gapless.core.reading import read_limited
from gapless.simulators.model_text import ModelText, read_model_text

LARGEST_FILE = 2**28
"""Bytes of a mesh or texture at most."""


def take_along(spec: mujoco.MjSpec, source: Path, folder: str) -> dict[str, bytes]:
    """Make the spec name its files as `folder/name`; their contents by name.

    The model must have been loaded before: what it may read was settled there.
    """
    text = read_model_text(source, Path(source.anchor or "/"))
    taken: dict[str, bytes] = {}
    for thing, attribute, index in _named_files(spec):
        named = getattr(thing, attribute) if index is None else thing.cubefiles[index]
        place = _place(source, spec, thing, named, text)
        name = f"{len(taken)}-{re.sub(r'[^A-Za-z0-9._-]', '_', place.name)}"
        taken[name] = read_limited(place, LARGEST_FILE)
        if index is None:
            setattr(thing, attribute, name)
        else:
            thing.cubefiles[index] = name
    if taken:
        spec.meshdir = spec.texturedir = folder
        spec.strippath = False
        spec.assets = {f"{folder}/{name}": content for name, content in taken.items()}
    return taken


def _named_files(spec: mujoco.MjSpec) -> Iterator[tuple[Any, str, int | None]]:
    """Everything in a model that names a file: the element, its attribute, and which side of a cube."""
    for thing in (*spec.meshes, *spec.hfields, *spec.skins, *spec.textures):
        if thing.file:
            yield thing, "file", None
    for texture in spec.textures:
        yield from ((texture, "cubefiles", side) for side, name in enumerate(texture.cubefiles) if name)


def _place(source: Path, spec: mujoco.MjSpec, thing: Any, named: str, text: ModelText) -> Path:
    spelled = named.replace("\\", "/")
    beside = spec.texturedir if isinstance(thing, mujoco.MjsTexture) else spec.meshdir
    first = [source.parent / beside / spelled, source.parent / beside / Path(spelled).name]
    # A model that was put together from several may name files relative to any of them.
    others = (place for place in text.places() if place.name == Path(spelled).name)
    for place in (*first, *others):
        if place.is_file():
            return place.resolve()
    raise GaplessError(f"the model {source} names {named}, which cannot be found. Put it where the model says.")
