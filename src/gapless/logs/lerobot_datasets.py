"""LeRobot datasets of others, versions 2 and 3: the vectors in their Parquet files, episode by episode."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gapless.core import GaplessError

from .columns import Column, Episodes, cut, inside, places
from .guard import LARGEST, from_arrow, open_parquet, read_json_object, read_parquet, require_size

INFO = "meta/info.json"
EPISODE = "episode_index"
NUMBERS = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool")
DATA_FILE = re.compile(r"chunk-(\d{3,9})/(?:file-|episode_)(\d{3,9})\.parquet")
"""Version 3 writes file-000.parquet, version 2 one file per episode. The template in the file itself is not followed."""


def dataset_files(folder: Path) -> list[Path]:
    """The description and the data, in order."""
    return [inside(folder, folder / INFO), *_data_files(folder)]


def dataset_widths(folder: Path) -> dict[str, int]:
    """The features that are numbers; those whose numbers have names also one by one, as `action[hip.pos]`."""
    found = {}
    for name, feature in _features(folder).items():
        found[name] = _width(feature)
        found |= {f"{name}[{axis}]": 1 for axis in _axes(feature)}
    return found


def read_dataset(folder: Path, wanted: Collection[str], episode: str) -> Episodes:
    """The wanted features of all files, cut by `episode_index` unless another column is named."""
    features, episode = _features(folder), episode or EPISODE
    if episode not in features:
        raise GaplessError(f"{folder} has no episode column {episode!r}. Correct `episode` in the mapping, or drop it.")
    chosen = [name for name in features if any(w == name or w.startswith(f"{name}[") for w in wanted)]
    read = _read(folder, [*dict.fromkeys([*chosen, episode])])
    labels, codes = np.unique(read[episode].values[:, 0], return_inverse=True)
    columns: dict[str, Column] = {}
    for name in chosen:
        columns |= {n: c for n, c in places(name, read[name], _axes(features[name])).items() if n in wanted}
    return cut(columns, codes, [f"{label:g}" for label in labels])


def _features(folder: Path) -> dict[str, Mapping[str, Any]]:
    """The declared features that are vectors of numbers: no images, no text."""
    path = inside(folder, folder / INFO)
    described = read_json_object(path)
    version, features = described.get("codebase_version"), described.get("features")
    if not isinstance(version, str) or not re.fullmatch(r"v[23]\.\d+", version):
        raise GaplessError(
            f"{path} says version {version!r}; LeRobot's v2.x and v3.x are read. "
            "Convert the dataset with LeRobot's own tool."
        )
    if not isinstance(features, dict):
        raise GaplessError(f"{path} declares no features. Restore the file from a copy.")
    return {name: f for name, f in features.items() if isinstance(f, dict) and _width(f)}


def _width(feature: Mapping[str, Any]) -> int:
    """Numbers per row, 0 for what is no vector of numbers."""
    shape = feature.get("shape")
    sound = isinstance(shape, list) and len(shape) == 1 and type(shape[0]) is int and 0 < shape[0] < 2**16
    return shape[0] if sound and isinstance(shape, list) and feature.get("dtype") in NUMBERS else 0


def _axes(feature: Mapping[str, Any]) -> list[str]:
    """The names of a feature's numbers: a list, or lists by group; empty where there are none."""
    names = feature.get("names")
    listed = (
        [n for group in names.values() for n in (group if isinstance(group, list) else [])]
        if isinstance(names, dict)
        else names
    )
    sound = isinstance(listed, list) and len(listed) == _width(feature) and all(isinstance(n, str) for n in listed)
    return listed if sound and isinstance(listed, list) and len(set(listed)) == len(listed) else []


def _data_files(folder: Path) -> list[Path]:
    places = [(f, DATA_FILE.fullmatch(f"{f.parent.name}/{f.name}")) for f in folder.glob("data/chunk-*/*.parquet")]
    found = sorted((int(m[1]), int(m[2]), f) for f, m in places if m)
    if not found:
        raise GaplessError(f"{folder} has no data/chunk-000/file-000.parquet. Download the dataset's data as well.")
    return [inside(folder, f) for _, _, f in found]


def _read(folder: Path, names: list[str]) -> dict[str, Column]:
    """The named columns of all files, one after another."""
    parts: dict[str, list[Column]] = {name: [] for name in names}
    rows = 0
    for path in _data_files(folder):
        table = read_parquet(open_parquet(path), path, names)
        rows += len(table)
        require_size(folder, rows, LARGEST, "rows")
        for name in names:
            parts[name].append(Column(*from_arrow(table.column(name), name, path)))
    for name, columns in parts.items():
        widths = sorted({c.values.shape[1] for c in columns if len(c.values)})
        if len(widths) > 1:
            raise GaplessError(f"{folder} has {name!r} with {widths} numbers a row; a channel has one width.")
    kept = {name: [c for c in columns if len(c.values)] or columns[:1] for name, columns in parts.items()}
    return {
        name: Column(np.concatenate([c.values for c in columns]), np.concatenate([c.present for c in columns]))
        for name, columns in kept.items()
    }
