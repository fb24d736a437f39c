"""Parquet files as named columns: numbers, or lists of equally many numbers."""

from collections.abc import Collection
from pathlib import Path

import pyarrow as pa

from .columns import Episodes, table_episodes
from .guard import open_parquet, read_parquet


def parquet_widths(path: Path) -> dict[str, int]:
    """The columns of a Parquet file; a list whose length only its rows tell counts as one number."""
    schema = open_parquet(path).schema_arrow
    return {f.name: f.type.list_size if pa.types.is_fixed_size_list(f.type) else 1 for f in schema}


def read_parquet_episodes(path: Path, wanted: Collection[str], episode: str) -> Episodes:
    """The wanted columns of a Parquet file."""
    file = open_parquet(path)
    names = [n for n in dict.fromkeys(file.schema_arrow.names) if n in wanted or (episode and n == episode)]
    return table_episodes(read_parquet(file, path, names), path, episode)
