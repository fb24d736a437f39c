"""CSV, NPZ and Parquet files as episodes of named columns of numbers, whatever else they may contain."""

import csv
import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from jaxtyping import Bool, Float

from gapless.core import GaplessError

from .guard import LARGEST, LARGEST_TEXT, from_arrow, one_sentence, open_parquet, read_parquet, require_size


@dataclass(frozen=True)
class Column:
    """Numbers row by row; where nothing was written, `present` is false."""

    values: Float[np.ndarray, "row width"]
    present: Bool[np.ndarray, " row"]

    def __getitem__(self, rows: Any) -> "Column":
        return Column(self.values[rows], self.present[rows])


Episodes = dict[str, dict[str, Column]]
"""Episode name → column name → column."""


def column_widths(path: Path) -> dict[str, int]:
    """The columns of a file and how many numbers a row of each holds; of groups in an NPZ file, the first's."""
    return _kind(path, {".csv": _csv_widths, ".npz": _npz_widths, ".parquet": _parquet_widths})(path)


def read_episodes(path: Path, wanted: Collection[str], episode: str = "") -> Episodes:
    """The wanted columns of a file, as far as it has them, cut into episodes by the column `episode` if named."""
    return _kind(path, {".csv": _read_csv, ".npz": _read_npz, ".parquet": _read_parquet})(path, wanted, episode)


def _kind(path: Path, choices: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    if not path.is_file():
        raise GaplessError(f"there is no file {path}. Check the path.")
    if path.suffix.lower() not in choices:
        raise GaplessError(f"{path} is no kind of file that can be imported. Save it as {', '.join(choices)}.")
    return choices[path.suffix.lower()]


def _csv_header(path: Path) -> tuple[list[str], str]:
    """Column names and delimiter. NumPy writes a # before the first name."""
    with one_sentence(path, "CSV"):
        require_size(path, path.stat().st_size, LARGEST * 8, "bytes")
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline(LARGEST_TEXT).rstrip("\r\n")
        delimiter = max(",;\t", key=line.count)
        names = [name.strip() for name in next(csv.reader([line.lstrip("# ")], delimiter=delimiter), [])]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise GaplessError(f"{path} has several columns named {', '.join(map(repr, twice))}. Give each its own name.")
    if not names or any(_is_number(name) for name in names):
        raise GaplessError(f"{path} begins with {line[:60]!r}; its first line must name the columns. Add such a line.")
    return names, delimiter


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _csv_widths(path: Path) -> dict[str, int]:
    return dict.fromkeys(_csv_header(path)[0], 1)


def _read_csv(path: Path, wanted: Collection[str], episode: str) -> Episodes:
    names, delimiter = _csv_header(path)
    chosen = [name for name in names if name in wanted or (episode and name == episode)]
    with one_sentence(path, "CSV"):
        table = pyarrow.csv.read_csv(
            path,
            # The header is ours: Arrow would keep NumPy's # and the spaces around names.
            pyarrow.csv.ReadOptions(column_names=names, skip_rows=1, use_threads=False),
            pyarrow.csv.ParseOptions(delimiter=delimiter),
            pyarrow.csv.ConvertOptions(
                column_types={name: pa.string() if name == episode else pa.float64() for name in chosen},
                include_columns=chosen,
                null_values=[""],
            ),
        )
    return _table_episodes(table, path, episode)


def _parquet_widths(path: Path) -> dict[str, int]:
    schema = open_parquet(path).schema_arrow
    return {f.name: f.type.list_size if pa.types.is_fixed_size_list(f.type) else 1 for f in schema}


def _read_parquet(path: Path, wanted: Collection[str], episode: str) -> Episodes:
    file = open_parquet(path)
    names = [n for n in dict.fromkeys(file.schema_arrow.names) if n in wanted or (episode and n == episode)]
    return _table_episodes(read_parquet(file, path, names), path, episode)


def _table_episodes(table: pa.Table, path: Path, episode: str) -> Episodes:
    names = [name for name in table.column_names if name != episode]
    columns = {name: Column(*from_arrow(table.column(name), name, path)) for name in names}
    if not episode:
        return {path.stem: columns}
    if episode not in table.column_names:
        raise GaplessError(f"{path} has no episode column {episode!r}. Correct `episode` in the mapping, or drop it.")
    with one_sentence(path, "a table of episodes"):
        coded = table.column(episode).cast(pa.string()).combine_chunks().dictionary_encode()
        if coded.null_count:
            raise GaplessError(f"column {episode!r} of {path} is empty in {coded.null_count} rows. Fill it in.")
        codes = np.asarray(coded.indices)
        labels = [str(label) for label in coded.dictionary.to_pylist()]
    return {
        label: {name: column[codes == code] for name, column in columns.items()} for code, label in enumerate(labels)
    }


def _npz_widths(path: Path) -> dict[str, int]:
    with one_sentence(path, "NPZ"), zipfile.ZipFile(path) as archive:
        shapes = {name: _header(path, archive, member)[0] for name, member in _members(path, archive).items()}
    first = next(iter(_grouped(list(shapes)).values()), {})
    return {name: shapes[key][1] if len(shapes[key]) == 2 else 1 for name, key in first.items() if shapes[key]}


def _read_npz(path: Path, wanted: Collection[str], episode: str) -> Episodes:
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
