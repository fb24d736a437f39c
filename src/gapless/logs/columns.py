"""What every kind of file is read into: named columns of numbers, cut into episodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Float, Int

from gapless.core import GaplessError

from .guard import from_arrow, one_sentence


@dataclass(frozen=True)
class Column:
    """Numbers row by row; where nothing was written, `present` is false."""

    values: Float[np.ndarray, "row width"]
    present: Bool[np.ndarray, " row"]

    def __getitem__(self, rows: Any) -> "Column":
        return Column(self.values[rows], self.present[rows])


Episodes = dict[str, dict[str, Column]]
"""Episode name → column name → column."""


def table_episodes(table: pa.Table, path: Path, episode: str) -> Episodes:
    """The columns of a table, cut by the column `episode` if named; without it the file is one episode."""
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
        return cut(columns, np.asarray(coded.indices), [str(label) for label in coded.dictionary.to_pylist()])


def cut(columns: Mapping[str, Column], codes: Int[np.ndarray, " row"], labels: Sequence[str]) -> Episodes:
    """Rows of one code are one episode, in the order in which they stand."""
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(len(labels) + 1))
    rows = [order[a:b] for a, b in pairwise(edges)]
    return {label: {name: c[where] for name, c in columns.items()} for label, where in zip(labels, rows, strict=True)}


def places(name: str, column: Column, axes: Sequence[str]) -> dict[str, Column]:
    """A wide column and, if its numbers have names, each of them as `name[axis]`."""
    split = {f"{name}[{axis}]": Column(column.values[:, i : i + 1], column.present) for i, axis in enumerate(axes)}
    return {name: column, **(split if column.values.shape[1] == len(axes) else {})}


def inside(folder: Path, path: Path) -> Path:
    """The path, unless a link leads out of the folder."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise GaplessError(f"{path} leads out of the folder. Replace the link by the file itself.")
    return path
