"""CSV files as named columns: the first line names them, cells are numbers or empty."""

import csv
from collections.abc import Collection, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from gapless.core import GaplessError

from .columns import Episodes, table_episodes
from .guard import LARGEST, LARGEST_TEXT, MOST_NAMES, one_sentence, require_size


def csv_widths(path: Path) -> dict[str, int]:
    """The columns of a CSV file, each one number wide."""
    return dict.fromkeys(csv_header(path)[0], 1)


def read_csv(path: Path, wanted: Collection[str], episode: str) -> Episodes:
    """The wanted columns of a CSV file."""
    names, delimiter = csv_header(path)
    chosen = [name for name in names if name in wanted or (episode and name == episode)]
    types = {name: pa.string() if name == episode else pa.float64() for name in chosen}
    return table_episodes(csv_table(path, names, delimiter, types), path, episode)


def csv_header(path: Path) -> tuple[list[str], str]:
    """Column names and delimiter. NumPy writes a # before the first name."""
    with one_sentence(path, "CSV"):
        require_size(path, path.stat().st_size, LARGEST * 8, "bytes")
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline(LARGEST_TEXT).rstrip("\r\n")
        delimiter = max(",;\t", key=line.count)
        require_size(path, line.count(delimiter), MOST_NAMES, "columns")
        names = [name.strip() for name in next(csv.reader([line.lstrip("# ")], delimiter=delimiter), [])]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise GaplessError(f"{path} has several columns named {', '.join(map(repr, twice))}. Give each its own name.")
    if not names or any(_is_number(name) for name in names):
        raise GaplessError(f"{path} begins with {line[:60]!r}; its first line must name the columns. Add such a line.")
    return names, delimiter


def csv_table(
    path: Path, names: list[str], delimiter: str, types: Mapping[str, pa.DataType], lists: bool = False
) -> pa.Table:
    """The columns that have a type, in that type; an empty cell is null, in text only where it should hold `lists`."""
    with one_sentence(path, "CSV"):
        return pyarrow.csv.read_csv(
            path,
            # The header is ours: Arrow would keep NumPy's # and the spaces around names.
            pyarrow.csv.ReadOptions(column_names=names, skip_rows=1, use_threads=False),
            pyarrow.csv.ParseOptions(delimiter=delimiter),
            pyarrow.csv.ConvertOptions(
                column_types=dict(types), include_columns=list(types), null_values=[""], strings_can_be_null=lists
            ),
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
