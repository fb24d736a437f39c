"""Reading what others wrote: whatever is wrong with a file becomes one sentence, and nothing absurd is loaded."""

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Bool, Float

from gapless.core import GaplessError

LARGEST = 2**28
"""Numbers read from one file at most: two gigabytes, a week of one channel at 400 Hz."""
LARGEST_TEXT = 2**26
"""Bytes of a JSON or TOML file at most."""


@contextmanager
def one_sentence(path: Path, kind: str) -> Generator[None]:
    """Turn any failure to read `path` into an error that names it."""
    try:
        yield
    except GaplessError:
        raise
    except FileNotFoundError:
        raise GaplessError(f"there is no file {path}. Check the path.") from None
    except Exception as error:  # a damaged file raises anything, from deep inside a parser
        found = (str(error).splitlines() or [""])[0]
        raise GaplessError(
            f"{path} cannot be read as {kind} ({type(error).__name__}: {found[:200]}). Record or export it again."
        ) from None


def require_size(path: Path, found: int, largest: int, what: str) -> None:
    """Raise when a file announces more than can be meant."""
    if not 0 <= found <= largest:
        raise GaplessError(
            f"{path} announces {found} {what}; at most {largest} are read from one file. Split it into several files."
        )


def read_text(path: Path, kind: str) -> str:
    """A small text file, whole."""
    with one_sentence(path, kind):
        require_size(path, path.stat().st_size, LARGEST_TEXT, "bytes")
        return path.read_text(encoding="utf-8")


def read_json_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    text = read_text(path, "JSON")
    with one_sentence(path, "JSON"):
        value = json.loads(text)
    if not isinstance(value, dict):
        raise GaplessError(f"{path} holds a {type(value).__name__}; a JSON object belongs there. Restore the file.")
    return value


def open_parquet(path: Path) -> pq.ParquetFile:
    """A Parquet file whose announced size is plausible; page checksums are verified where the file has them."""
    if not path.is_file():
        raise GaplessError(f"there is no file {path}. Check the path.")
    with one_sentence(path, "Parquet"):
        file = pq.ParquetFile(path, page_checksum_verification=True)
        require_size(path, file.metadata.num_rows, LARGEST, "rows")
        return file


def read_parquet(file: pq.ParquetFile, path: Path, names: Sequence[str]) -> pa.Table:
    """The named top-level columns. Several columns of one name are an error, as is too large a file."""
    present = file.schema_arrow.names
    for name in names:
        if present.count(name) != 1:
            found = "no column" if name not in present else f"{present.count(name)} columns"
            raise GaplessError(f"{path} has {found} {name!r} (it has: {', '.join(present)}). One must have this name.")
    with one_sentence(path, "Parquet"):
        require_size(path, _numbers(file, names), LARGEST, "numbers")
        # Arrow takes "a" for a prefix of "a.time" as well, hence the second selection.
        return file.read(columns=list(names), use_threads=False).select(list(names))


def from_arrow(
    column: pa.ChunkedArray, name: str, path: Path
) -> tuple[Float[np.ndarray, "row width"], Bool[Any, " row"]]:
    """A column of numbers, or of lists of equally many numbers, as float64; and which of its rows are not empty."""
    with one_sentence(path, "Parquet"):
        present = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), bool)
        if not pa.types.is_nested(column.type):
            return _float64(column, name, path).reshape(-1, 1), present
        lists = pa.concat_arrays([chunk.drop_null() for chunk in column.chunks]) if column.num_chunks else None
        if lists is None or not len(lists):
            return np.full((len(column), _list_width(column.type)), np.nan), present
        flat = _float64(lists.flatten(), name, path)
        if len(flat) % len(lists) or not _lists_are_equally_long(lists, len(flat) // len(lists)):
            raise GaplessError(f"column {name!r} of {path} holds lists of different lengths; a channel has one width.")
        values = np.full((len(column), len(flat) // len(lists)), np.nan)
        values[present] = flat.reshape(len(lists), -1)
        return values, present


def _float64(column: Any, name: str, path: Path) -> Float[np.ndarray, " row"]:
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise GaplessError(f"column {name!r} of {path} holds {kind}; a channel or clock is made of numbers.")
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)


def _list_width(kind: pa.DataType) -> int:
    return kind.list_size if isinstance(kind, pa.FixedSizeListType) and kind.list_size < LARGEST_TEXT else 1


def _lists_are_equally_long(lists: Any, width: int) -> bool:
    if pa.types.is_fixed_size_list(lists.type):
        return width == lists.type.list_size
    return bool(np.all(np.asarray(lists.value_lengths()) == width))


def _numbers(file: pq.ParquetFile, names: Sequence[str]) -> int:
    meta = file.metadata
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    chunks = [group.column(j) for group in groups for j in range(group.num_columns)]
    return sum(c.num_values for c in chunks if any(f"{c.path_in_schema}.".startswith(f"{n}.") for n in names))
