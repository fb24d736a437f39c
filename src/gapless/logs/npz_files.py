"""NPZ files as named columns: an array each, in groups `<log>/<channel>` if there are several episodes."""

import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import IO

import numpy as np

from gapless.core import GaplessError

from .columns import Column, Episodes
from .guard import LARGEST, MOST_NAMES, one_sentence, require_size


def npz_widths(path: Path) -> dict[str, int]:
    """The arrays of an NPZ file and their widths; of groups, the first's."""
    with one_sentence(path, "NPZ"), zipfile.ZipFile(path) as archive:
        shapes = {name: _header(path, archive, member)[0] for name, member in _members(path, archive).items()}
    first = next(iter(_grouped(list(shapes)).values()), {})
    return {name: shapes[key][1] if len(shapes[key]) == 2 else 1 for name, key in first.items() if shapes[key]}


def read_npz(path: Path, wanted: Collection[str], episode: str) -> Episodes:
    """The wanted arrays of an NPZ file, group by group."""
    if episode:
        raise GaplessError(f"the mapping names an episode column; {path} keeps episodes in groups. Drop `episode`.")
    with one_sentence(path, "NPZ"), zipfile.ZipFile(path) as archive:
        members = _members(path, archive)
        grouped = {group: {n: k for n, k in keys.items() if n in wanted} for group, keys in _grouped(members).items()}
        used = {key for keys in grouped.values() for key in keys.values()}
        require_size(path, sum(_numbers(path, archive, members[key]) for key in used), LARGEST, "numbers")
        arrays = {key: _npz_column(path, key, archive, members[key]) for key in used}
    return {group or path.stem: {n: arrays[key] for n, key in keys.items()} for group, keys in grouped.items()}


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, str]:
    members = [m for m in archive.namelist() if m.endswith(".npy")]
    require_size(path, len(members), MOST_NAMES, "arrays")
    if len(set(members)) != len(members) or not members:
        raise GaplessError(f"{path} holds {len(members)} arrays, some under one name or none at all. Save it again.")
    return {member.removesuffix(".npy"): member for member in members}


def _grouped(keys: Collection[str]) -> dict[str, dict[str, str]]:
    """Keys `<log>/<channel>` by log; a key without a log belongs to all of them."""
    split = [(*key.rpartition("/")[::2], key) for key in keys]
    shared = {name: key for group, name, key in split if not group}
    groups = dict.fromkeys(group for group, _, _ in split if group) or {"": None}
    return {g: {**shared, **{name: key for group, name, key in split if group == g}} for g in groups}


def _header(path: Path, archive: zipfile.ZipFile, member: str) -> tuple[tuple[int, ...], np.dtype]:
    with archive.open(member) as file:
        return _read_header(path, file)


def _read_header(path: Path, file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise GaplessError(f"{path} holds arrays of the unusual format {version}. Save it with numpy.savez.")
    shape, _, dtype = read(file)
    return shape, dtype


def _numbers(path: Path, archive: zipfile.ZipFile, member: str) -> int:
    shape, _ = _header(path, archive, member)
    return int(np.prod([float(n) for n in shape])) if all(n >= 0 for n in shape) else -1


def _npz_column(path: Path, key: str, archive: zipfile.ZipFile, member: str) -> Column:
    shape, dtype = _header(path, archive, member)
    if dtype.kind not in "fiub" or len(shape) not in (1, 2):
        raise GaplessError(
            f"array {key!r} of {path} holds {dtype} of shape {shape}; it must hold numbers, one row per sample."
        )
    with archive.open(member) as file:
        values = np.lib.format.read_array(file, allow_pickle=False)
    values = np.asarray(values, np.float64).reshape(len(values), -1 if values.ndim == 2 and values.size else 1)
    return Column(values, np.ones(len(values), bool))
