"""A folder of CSV files that each have their own clock, as SAGE and Isaac write them: one folder is one episode.

SAGE's folders hold control.csv, state_motor.csv and others with a `timestamp` and cells such as "[0.1, 0.2]", one number
per joint of joint_list.txt; its real recordings count microseconds and its simulated ones seconds.
"""

import csv
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gapless.core import GaplessError

from .columns import Column, Episodes, inside, places
from .csv_files import csv_header, csv_table
from .guard import LARGEST, LARGEST_TEXT, from_arrow, one_sentence, read_text, require_size

JOINTS = "joint_list.txt"


def csv_folder_files(folder: Path) -> list[Path]:
    """The files of a folder that are read."""
    found = sorted(f for f in folder.iterdir() if f.is_file() and f.suffix.lower() == ".csv")
    return [inside(folder, f) for f in [*found, *([folder / JOINTS] if (folder / JOINTS).is_file() else [])]]


def csv_folder_widths(folder: Path) -> dict[str, int]:
    """Columns `<file>.<column>`; of lists also `<file>.<column>[joint]`."""
    joints, found = _joints(folder), {}
    for table in _tables(folder):
        for name in table.names:
            width = table.widths.get(name, 1)
            found[f"{table.stem}.{name}"] = width
            if name in table.widths and width == len(joints):
                found |= {f"{table.stem}.{name}[{joint}]": 1 for joint in joints}
    return found


def read_csv_folder(folder: Path, wanted: Collection[str], episode: str) -> Episodes:
    """The wanted columns of all files, each as long as its file."""
    if episode:
        raise GaplessError(f"the mapping names an episode column; {folder} is one episode. Drop `episode`.")
    joints, found = _joints(folder), {}
    for table in _tables(folder):
        chosen = [n for n in table.names if _is_wanted(f"{table.stem}.{n}", wanted)]
        types = {name: pa.string() if name in table.widths else pa.float64() for name in chosen}
        read = csv_table(table.path, table.names, table.delimiter, types, lists=True)
        for name in chosen:
            column = _column(read.column(name), name, table.path)
            found |= places(f"{table.stem}.{name}", column, joints if name in table.widths else ())
    return {folder.name: {name: column for name, column in found.items() if name in wanted}}


@dataclass(frozen=True)
class _Table:
    """What the first two lines of a CSV file tell."""

    path: Path
    names: list[str]
    delimiter: str
    widths: dict[str, int]
    """Columns whose cells are lists, and how long those are."""

    @property
    def stem(self) -> str:
        return self.path.stem


def _tables(folder: Path) -> list[_Table]:
    return [_table(path) for path in csv_folder_files(folder) if path.name != JOINTS]


def _table(path: Path) -> _Table:
    names, delimiter = csv_header(path)
    with one_sentence(path, "CSV"), path.open(encoding="utf-8-sig", newline="") as file:
        file.readline(LARGEST_TEXT)
        first = next(csv.reader([file.readline(LARGEST_TEXT)], delimiter=delimiter), [])
    cells = dict(zip(names, first, strict=False))
    return _Table(
        path, names, delimiter, {n: _length(c) for n, c in cells.items() if c.lstrip().startswith(("[", "("))}
    )


def _length(cell: str) -> int:
    return len([number for number in cell.strip(" []()").split(",") if number.strip()])


def _joints(folder: Path) -> list[str]:
    """The names in joint_list.txt; Isaac writes them as paths, whose last part counts."""
    path = folder / JOINTS
    if not path.is_file():
        return []
    lines = read_text(inside(folder, path), "a list of joints").splitlines()
    return [line.strip().rpartition("/")[2] for line in lines if line.strip()]


def _is_wanted(name: str, wanted: Collection[str]) -> bool:
    return any(w == name or w.startswith(f"{name}[") for w in wanted)


def _column(column: pa.ChunkedArray, name: str, path: Path) -> Column:
    """Numbers as they are; text as lists of numbers, all equally long."""
    if not pa.types.is_string(column.type):
        return Column(*from_arrow(column, name, path))
    with one_sentence(path, "CSV"):
        # A list of NumPy's numbers is written as "[np.float64(0.1), …]".
        bare = pc.replace_substring_regex(column, r"np\.\w+\(([^)]*)\)", r"\1")  # type: ignore[attr-defined]
        bare = pc.utf8_trim(bare, " []()")  # type: ignore[attr-defined]
        numbers = pc.split_pattern(bare, ",").combine_chunks()  # type: ignore[attr-defined]
        require_size(path, len(numbers.flatten()), LARGEST, "numbers")
        trimmed = pc.utf8_trim_whitespace(numbers.flatten())  # type: ignore[attr-defined]
        flat = np.asarray(trimmed.cast(pa.float64()).to_numpy(zero_copy_only=False))
        present = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), bool)
        lengths = np.asarray(numbers.value_lengths().drop_null())
    if not len(lengths) or not np.all(lengths == lengths[0]):
        raise GaplessError(f"column {name!r} of {path} holds lists of different lengths; a channel has one width.")
    values = np.full((len(present), lengths[0]), np.nan)
    values[present] = flat.reshape(-1, lengths[0])
    return Column(values, present)
