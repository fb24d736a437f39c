"""Logs as columns: the rows that LeRobot reads, and beside them every value and clock without loss."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from gapless.core import Channel, Log, stack

from . import layout
from .align import interpolated_at
from .statistics import statistics

Columns = dict[str, np.ndarray]
"""Column name → (row, width)."""


def raw_channels(logs: Sequence[Log]) -> list[str]:
    """Measurement channels that in some log do not have exactly one sample per command."""
    names = logs[0].interface.measurement_names
    return [name for name in names if any(len(log.measurements[name]) != len(log) for log in logs)]


def data_columns(logs: Sequence[Log], raw: Sequence[str]) -> Columns:
    """One row per command of all logs: what LeRobot's tools use, then the true clocks and values in float64."""
    interface = logs[0].interface
    columns: Columns = {}
    if interface.commands:
        columns["action"] = _rows(logs, lambda log: stack(log.commands, interface.command_names))
    if interface.measurements:
        columns["observation.state"] = _rows(logs, lambda log: stack(_states(log), interface.measurement_names))
    columns["command.time"] = _rows(logs, lambda log: log.command_time)
    for name in interface.command_names:
        columns[name] = _rows(logs, lambda log, name=name: log.commands[name])
    for name in interface.measurement_names:
        if name not in raw:
            columns[name] = _rows(logs, lambda log, name=name: log.measurements[name])
            columns[f"{name}.time"] = _rows(logs, lambda log, name=name: log.measurement_time.get(name, np.empty(0)))
    return columns | _counters(logs)


def raw_columns(logs: Sequence[Log], name: str) -> Columns:
    """All samples of one channel, with the place of their log in the list of logs."""
    lengths = [len(log.measurements[name]) for log in logs]
    return {
        "log_index": np.repeat(np.arange(len(logs)), lengths)[:, None],
        "time": _rows(logs, lambda log: log.measurement_time.get(name, np.empty(0))),
        "value": _rows(logs, lambda log: log.measurements[name]),
    }


def raw_features(channel: Channel) -> dict[str, dict[str, Any]]:
    """What `raw_columns` are made of, declared as the data file's columns are."""
    kinds = {"log_index": ("int64", 1), "time": ("float64", 1), "value": ("float64", channel.width)}
    return {name: {"dtype": kind, "shape": [width]} for name, (kind, width) in kinds.items()}


def arrow_table(columns: Mapping[str, np.ndarray], features: Mapping[str, Mapping[str, Any]]) -> pa.Table:
    """The declared columns in the declared types."""
    return pa.table({name: _arrow_column(columns[name], feature) for name, feature in features.items()})


def episodes_table(columns: Mapping[str, np.ndarray], lengths: Sequence[int], task: str) -> pa.Table:
    """One row per episode: where its rows are, its task and its own statistics."""
    ends = np.cumsum(lengths, dtype=np.int64)
    starts = ends - np.asarray(lengths, np.int64)
    where = {
        "episode_index": np.arange(len(lengths)),
        "length": np.asarray(lengths, np.int64),
        "dataset_from_index": starts,
        "dataset_to_index": ends,
    }
    zeros = ("data/chunk_index", "data/file_index", "meta/episodes/chunk_index", "meta/episodes/file_index")
    table = {name: pa.array(values, pa.int64()) for name, values in where.items()}
    table |= {name: pa.array([0] * len(lengths), pa.int64()) for name in zeros}
    table["tasks"] = pa.array([[task]] * len(lengths), pa.list_(pa.string()))
    each = [statistics({n: v[a:b] for n, v in columns.items()}) for a, b in zip(starts, ends, strict=True)]
    for feature, stats in (each[0] if each else {}).items():
        for stat in stats:
            kind = pa.list_(pa.int64() if stat == "count" else pa.float64())
            table[f"stats/{feature}/{stat}"] = pa.array([found[feature][stat] for found in each], kind)
    return pa.table(table)


def tasks_table(task: str) -> pa.Table:
    """The one task, as pandas would have written it with the task for an index: LeRobot looks it up there."""
    table = pa.table({"task_index": pa.array([0], pa.int64()), "__index_level_0__": pa.array([task], pa.string())})
    text = {"pandas_type": "unicode", "numpy_type": "object"}
    described = {
        "index_columns": ["__index_level_0__"],
        "column_indexes": [{"name": None, "field_name": None, **text, "metadata": {"encoding": "UTF-8"}}],
        "columns": [
            {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64"},
            {"name": None, "field_name": "__index_level_0__", **text},
        ],
        "pandas_version": "2.0.0",
    }
    for column in described["columns"]:
        column["metadata"] = None
    return table.replace_schema_metadata({"pandas": json.dumps(described)})


def _rows(logs: Iterable[Log], of: Callable[[Log], np.ndarray]) -> np.ndarray:
    parts = [np.asarray(of(log), np.float64) for log in logs]
    return np.concatenate([p[:, None] if p.ndim == 1 else p for p in parts])


def _states(log: Log) -> dict[str, np.ndarray]:
    """Each channel's row k beside command k; where there is not one sample per command, its value at that time."""
    return {
        name: np.asarray(values)
        if len(values) == len(log)
        else interpolated_at(log.command_time, log.measurement_time.get(name, np.empty(0)), values)
        for name, values in log.measurements.items()
    }


def _counters(logs: Sequence[Log]) -> Columns:
    lengths = [len(log) for log in logs if len(log)]  # LeRobot cannot open a dataset with an empty episode
    frames = np.concatenate([np.arange(n) for n in lengths] or [np.empty(0, np.int64)])
    columns = {
        "timestamp": frames * logs[0].interface.period_s,
        "frame_index": frames,
        "episode_index": np.repeat(np.arange(len(lengths)), lengths),
        "index": np.arange(len(frames)),
        "task_index": np.zeros(len(frames), np.int64),
    }
    assert set(columns) == set(layout.COUNTERS)
    return {name: values[:, None] for name, values in columns.items()}


def _arrow_column(values: np.ndarray, feature: Mapping[str, Any]) -> pa.Array:
    with np.errstate(over="ignore"):  # float32 is the copy for LeRobot; the float64 column beside it loses nothing
        flat = np.ascontiguousarray(values, feature["dtype"]).reshape(-1)
    kind = layout.arrow_type(feature)
    return pa.array(flat, kind) if feature["shape"][0] == 1 else pa.FixedSizeListArray.from_arrays(flat, type=kind)
