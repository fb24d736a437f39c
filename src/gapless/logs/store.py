"""Logs on disk in LeRobot's dataset layout: its tools open them, and reading them back loses not a bit."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gapless.core import GaplessError, Interface, Log
from gapless.core.artifact import plain

from . import layout, tables
from .guard import from_arrow, open_parquet, read_json_object, read_parquet, require_size
from .statistics import statistics

MOST_PIECES = 2**22
"""Channels, log by log, that a folder holds at most."""


def write_logs(folder: Path, logs: Sequence[Log], task: str) -> None:
    """Write logs of one interface to a folder that does not exist or is empty: all of it appears, or none."""
    folder = Path(folder).absolute()
    _require_writable(folder, logs)
    draft = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        _fill(draft, logs, task)
        draft.replace(folder)
    except (OSError, pa.ArrowException, UnicodeError) as error:
        raise GaplessError(f"logs cannot be written to {folder} ({error}). Free the place or choose another.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def read_logs(folder: Path) -> list[Log]:
    """The logs that `write_logs` wrote, bit for bit."""
    folder = Path(folder)
    contents = _contents(folder)
    lengths = [entry["commands"] for entry in contents.entries]
    declared = layout.features(contents.interface, contents.raw)
    wanted = {n: f for n, f in declared.items() if f["dtype"] == "float64"}
    rows = _read(folder, layout.DATA, wanted)
    _require_rows(folder / layout.DATA, len(rows["command.time"]), sum(lengths))
    pieces = _cut(rows, np.cumsum([0, *lengths]))
    for name in contents.raw:
        for into, samples in zip(pieces, _read_raw(folder, contents, name), strict=True):
            into |= {name: samples["value"], f"{name}.time": samples["time"]}
    return [_log(contents.interface, p, e["source"]) for p, e in zip(pieces, contents.entries, strict=True)]


@dataclass(frozen=True)
class _Contents:
    """What the key "gapless" of meta/info.json says about a folder."""

    interface: Interface
    raw: list[str]
    """Measurement channels in files of their own."""
    entries: list[dict[str, Any]]
    """For each log its number of commands, and its source."""


def _require_writable(folder: Path, logs: Sequence[Log]) -> None:
    if not logs:
        raise GaplessError(f"there are no logs to write to {folder}. Record or import some first.")
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise GaplessError(f"{folder} exists already; logs are written once. Choose another folder, or remove it.")
    interface = logs[0].interface
    layout.require_storable(interface)
    for i, log in enumerate(logs):
        interface.require_same(log.interface, "log 0", f"log {i}")
        if log.interface != interface:
            raise GaplessError(
                f"logs 0 and {i} have interfaces with other limits or scales. Write them to two folders."
            )
        extra = (log.commands.keys() | log.measurements.keys()) - {
            *interface.command_names,
            *interface.measurement_names,
        }
        if extra:
            raise GaplessError(f"log {i} has channels that its interface does not name: {', '.join(sorted(extra))}.")


def _fill(folder: Path, logs: Sequence[Log], task: str) -> None:
    interface, raw = logs[0].interface, tables.raw_channels(logs)
    lengths = [len(log) for log in logs if len(log)]
    columns, declared = tables.data_columns(logs, raw), layout.features(interface, raw)
    described = layout.info(interface, declared, lengths) | {"gapless": _described(interface, raw, logs)}
    _write_json(folder / layout.INFO, described)
    _write_json(folder / layout.STATS, statistics(columns))
    _write_parquet(folder / layout.DATA, tables.arrow_table(columns, declared))
    _write_parquet(folder / layout.EPISODES, tables.episodes_table(columns, lengths, task))
    _write_parquet(folder / layout.TASKS, tables.tasks_table(task))
    for name in raw:
        table = tables.arrow_table(tables.raw_columns(logs, name), tables.raw_features(interface.channel(name)))
        _write_parquet(folder / layout.raw_path(name), table)


def _described(interface: Interface, raw: list[str], logs: Sequence[Log]) -> dict[str, Any]:
    entries = [{"commands": len(log), "source": plain(log.source)} for log in logs]
    return {"interface": interface.to_dict(), "raw": raw, "logs": entries}


def _write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    except (TypeError, ValueError) as error:
        raise GaplessError(f"a log's source cannot be written as JSON ({error}). Keep plain values in it.") from None


def _write_parquet(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, write_page_checksum=True)


def _contents(folder: Path) -> _Contents:
    if not folder.is_dir():
        raise GaplessError(f"there is no folder {folder}. Check the path.")
    info = read_json_object(_inside(folder, layout.INFO))
    if info.get("codebase_version") != layout.VERSION or info.get("data_path") != layout.DATA_TEMPLATE:
        found = f"version {info.get('codebase_version')!r} and data_path {info.get('data_path')!r}"
        raise GaplessError(
            f"{folder / layout.INFO} has {found}; {layout.VERSION!r} and {layout.DATA_TEMPLATE!r} are read. "
            "Convert the dataset with LeRobot's own tool."
        )
    described = info.get("gapless")
    if not isinstance(described, dict):
        raise GaplessError(
            f"{folder} is a LeRobot dataset that Gapless did not write, so its interface is unknown. "
            f"Import {layout.DATA} with a mapping instead."
        )
    return _checked(folder / layout.INFO, described)


def _checked(path: Path, described: Mapping[str, Any]) -> _Contents:
    raw, entries = described.get("raw"), described.get("logs")
    plain_interface = described.get("interface")
    sound = (
        isinstance(plain_interface, dict)
        and isinstance(entries, list)
        and all(isinstance(e, dict) and isinstance(e.get("source"), dict) for e in entries)
        and all(type(e.get("commands")) is int and e["commands"] >= 0 for e in entries)
    )
    if not sound or not isinstance(plain_interface, dict) or not isinstance(entries, list):
        raise GaplessError(f"the key 'gapless' of {path} is damaged. Restore the file from a copy.")
    try:
        interface = Interface.from_dict(plain_interface)
    except GaplessError as error:
        raise GaplessError(f"{path} cannot be read: {error}") from None
    layout.require_storable(interface)
    channels = len(interface.commands + interface.measurements)
    require_size(path, len(entries) * channels, MOST_PIECES, "channels of logs")
    if not isinstance(raw, list) or any(name not in interface.measurement_names for name in raw):
        raise GaplessError(f"{path} lists raw channels {raw!r}; they must be among the measurements. Restore the file.")
    return _Contents(interface, raw, entries)


def _inside(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise GaplessError(f"{path} leads out of the folder. Replace the link by the file itself.")
    return path


def _read(folder: Path, name: str, features: Mapping[str, Mapping[str, Any]]) -> tables.Columns:
    path = _inside(folder, name)
    table = read_parquet(open_parquet(path), path, list(features))
    for column, feature in features.items():
        found, expected = table.schema.field(column).type, layout.arrow_type(feature)
        if found != expected or table.column(column).null_count:
            raise GaplessError(f"column {column!r} of {path} holds {found}; it must be {expected} without gaps.")
    return {column: from_arrow(table.column(column), column, path)[0] for column in features}


def _read_raw(folder: Path, contents: _Contents, name: str) -> list[tables.Columns]:
    path = layout.raw_path(name)
    columns = _read(folder, path, tables.raw_features(contents.interface.channel(name)))
    owner, logs = columns["log_index"][:, 0], len(contents.entries)
    if len(owner) and (np.any(np.diff(owner) < 0) or owner[0] < 0 or owner[-1] >= logs):
        raise GaplessError(f"{folder / path} has log_index out of order or beyond the {logs} logs. Restore the file.")
    return _cut(columns, np.searchsorted(owner, np.arange(logs + 1)))


def _cut(columns: tables.Columns, edges: np.ndarray) -> list[tables.Columns]:
    return [{n: v[a:b].copy() for n, v in columns.items()} for a, b in pairwise(edges)]


def _require_rows(path: Path, found: int, expected: int) -> None:
    if found != expected:
        raise GaplessError(f"{path} has {found} rows; meta/info.json says {expected}. Restore the folder from a copy.")


def _log(interface: Interface, piece: tables.Columns, source: dict[str, Any]) -> Log:
    return Log(
        interface,
        {name: piece[name] for name in interface.command_names},
        {name: piece[name] for name in interface.measurement_names},
        piece["command.time"][:, 0],
        {name: piece[f"{name}.time"][:, 0] for name in interface.measurement_names},
        source,
    )
