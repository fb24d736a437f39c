"""Reading what others wrote: whatever is wrong with a file becomes one sentence, and nothing absurd is loaded."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from jaxtyping import Bool, Float

from gapless.core import GaplessError
from gapless.core.reading import LARGEST_JSON, LARGEST_TOML, plain_object, read_limited

LARGEST = 2**28
"""Numbers read from one file at most: two gigabytes, a week of one channel at 400 Hz."""
LARGEST_TEXT = 2**26
"""Bytes of a text at most."""
LARGEST_BY_KIND = {"JSON": LARGEST_JSON, "TOML": LARGEST_TOML}
"""Bytes of a text of these kinds at most."""
DENSEST = 200
"""Times the size of its file that numbers take up at most, where they are many: measurements are not all alike."""
MOST_NAMES = 10_000
"""Columns of one file at most."""
MANY = 2**23
"""Numbers below which no density is suspicious."""


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
    """Raise when a file announces more than can be meant, or more numbers than so few bytes can hold."""
    if not 0 <= found <= largest:
        raise GaplessError(
            f"{path} announces {found} {what}; at most {largest} are read from one file. Split it into several files."
        )
    if what == "numbers" and found > MANY and path.is_file() and found * 8 > DENSEST * path.stat().st_size:
        raise GaplessError(
            f"{path} announces {found} numbers in {path.stat().st_size} bytes, which no recording compresses to (at most "
            f"{DENSEST} times is read). Export it without compression."
        )


def read_text(path: Path, kind: str) -> str:
    """A small text file, whole."""
    with one_sentence(path, kind):
        return read_limited(path, LARGEST_BY_KIND.get(kind, LARGEST_TEXT)).decode()


def read_json_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    text = read_text(path, "JSON")
    with one_sentence(path, "JSON"):
        return plain_object(text)


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
        _require_short_words(file, path, names)
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
            return _empty(path, len(column), _list_width(column.type)), present
        flat = _float64(lists.flatten(), name, path)
        if len(flat) % len(lists) or not _lists_are_equally_long(lists, len(flat) // len(lists)):
            raise GaplessError(f"column {name!r} of {path} holds lists of different lengths; a channel has one width.")
        values = _empty(path, len(column), len(flat) // len(lists))
        values[present] = flat.reshape(len(lists), -1)
        return values, present


def _float64(column: Any, name: str, path: Path) -> Float[np.ndarray, " row"]:
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise GaplessError(f"column {name!r} of {path} holds {kind}; a channel or clock is made of numbers.")
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)


def _empty(path: Path, rows: int, width: int) -> Float[np.ndarray, "row width"]:
    """Rows in which nothing was written yet; a file can announce very wide ones at no cost to itself."""
    require_size(path, rows * width, LARGEST, "numbers")
    return np.full((rows, width), np.nan)


def _require_short_words(file: pq.ParquetFile, path: Path, names: Sequence[str]) -> None:
    """Raise when a column of words would not fit into memory: a long word, repeated, takes no room in the file."""
    kinds = {name: file.schema_arrow.field(name).type for name in names}
    words = [n for n, k in kinds.items() if pa.types.is_string(k) or pa.types.is_large_string(k)]
    if not words:
        return
    coded = pq.ParquetFile(path, read_dictionary=words)
    for name in words:
        letters = 0
        for batch in coded.iter_batches(MANY // 8, columns=[name], use_threads=False):
            letters += _letters(batch.column(batch.schema.get_field_index(name)))
            require_size(path, letters, 4 * LARGEST, "letters")


def _letters(words: Any) -> int:
    """Bytes that coded words take when they are spelled out."""
    if not pa.types.is_dictionary(words.type):
        return words.nbytes
    lengths = np.asarray(pc.call_function("binary_length", [words.dictionary]).fill_null(0), np.int64)
    return int(lengths[np.asarray(words.indices.drop_null())].sum())


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
