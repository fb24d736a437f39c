"""What a model file says before MuJoCo sees it: which other files it names, and whether its counts can be meant."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from gapless.core import GaplessError
from gapless.core.reading import read_limited

LARGEST_TEXT = 2**26
"""Bytes of an MJCF or URDF file at most."""
LARGEST_COUNT = 100_000
"""Copies that one element may ask for."""
MOST_PLACES = 100_000
"""Places at which the files that a model names are looked for."""
FOLDERS = ("meshdir", "texturedir", "assetdir")
XML = ("include", "model")
"""Elements that name another file of the same kind."""


@dataclass
class ModelText:
    """The files and folders that a model and the files it includes name, as they are written there."""

    texts: list[Path] = field(default_factory=list)
    files: dict[str, None] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=lambda: {"": None})
    stripped: set[str] = field(default_factory=set)
    """Values of strippath: where it is true, only the last part of a name counts."""

    def places(self) -> Iterator[Path]:
        """Every place where MuJoCo might look for one of the files."""
        bases = {text.parent for text in self.texts}
        if len(bases) * len(self.files) * len(self.folders) > MOST_PLACES:
            raise GaplessError(
                f"the model {self.texts[0]} names {len(self.files)} files in {len(self.folders)} folders, too many to be "
                f"meant (at most {MOST_PLACES} combinations). Correct the model."
            )
        for name in self.files:
            for spelled in {Path(name).name} | (set() if self.stripped == {"true"} else {name}):
                yield from (base / folder / spelled for base in bases for folder in self.folders)


def read_model_text(path: Path, root: Path) -> ModelText:
    """What a model file and all it includes name; raises when it is no XML or asks for an absurd size.

    Included files outside the folder `root` are listed and not read.
    """
    found, waiting = ModelText(), [path]
    while waiting:
        text = waiting.pop()
        if text in found.texts:
            continue
        found.texts.append(text)
        if text != path and not text.resolve().is_relative_to(root):
            continue
        waiting += [p for name in _Reader(text, found).included for p in _beside(name, path, text)]
        if len(found.texts) > 1000:
            raise GaplessError(f"the model {path} includes more than 1000 files. Include fewer.")
    return found


def files_outside(path: Path, folder: Path) -> list[Path]:
    """What a model names and is there, but outside a folder, links followed, or no regular file; the model itself aside."""
    root = folder.resolve()
    text = read_model_text(path, root)
    # A file that does not exist cannot be read: most of these places are not the one that is meant.
    there = {place.resolve() for place in (*text.texts[1:], *text.places()) if _exists(place)}
    return sorted(place for place in there if not (place.is_relative_to(root) and place.is_file()))


class _Reader:
    """One XML file, its names added to those of the whole model."""

    def __init__(self, path: Path, found: ModelText) -> None:
        self.path, self.found, self.included = path, found, []
        self._copies = [1.0]
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._end
        parser.EntityDeclHandler = self._entity
        try:
            parser.Parse(read_limited(path, LARGEST_TEXT), True)
        except expat.ExpatError as error:
            raise GaplessError(f"MuJoCo cannot read the model {path}: it is not XML ({error}). Correct it.") from None

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._copies.append(self._copies[-1] * (_count(attributes, "count") if tag == "replicate" else 1.0))
        asked = self._copies[-1] * (_count(attributes, "count") if tag == "flexcomp" else 1.0)
        self._require_count(tag, max(asked, _count(attributes, "nkey")))
        for key, value in attributes.items():
            name = value.replace("\\", "/")
            if key in FOLDERS:
                self.found.folders[name] = None
            elif key == "strippath":
                self.found.stripped.add(name)
            elif tag in XML and key == "file":
                self.included.append(name)
            elif key.startswith("file"):
                self.found.files[name] = None

    def _end(self, tag: str) -> None:
        self._copies.pop()

    def _entity(self, name: str, *_: object) -> None:
        raise GaplessError(f"the model {self.path} declares the XML entity {name!r}, which MuJoCo ignores. Remove it.")

    def _require_count(self, tag: str, asked: float) -> None:
        if not asked <= LARGEST_COUNT:
            raise GaplessError(
                f"the model {self.path} asks for {asked:.0f} copies in <{tag}>; at most {LARGEST_COUNT} are made. Ask for fewer."
            )


def _count(attributes: dict[str, str], key: str) -> float:
    return math.prod(float(n) for n in re.findall(r"\d+", attributes.get(key, "")))


def _beside(name: str, model: Path, text: Path) -> list[Path]:
    """Where MuJoCo looks for an included file: beside the model, or beside the file that includes it."""
    return [place for place in dict.fromkeys((model.parent / name, text.parent / name)) if _exists(place)]


def _exists(place: Path) -> bool:
    try:
        return place.exists() and not place.is_dir()
    except (OSError, ValueError):  # a name that no file system can hold
        return False
