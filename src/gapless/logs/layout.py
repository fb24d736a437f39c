"""LeRobot's dataset layout, version 3: which file holds what, and how an interface's channels become features."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from gapless.core import Channel, GaplessError, Interface

INFO = "meta/info.json"
STATS = "meta/stats.json"
TASKS = "meta/tasks.parquet"
EPISODES = "meta/episodes/chunk-000/file-000.parquet"
DATA = "data/chunk-000/file-000.parquet"
DATA_TEMPLATE = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VERSION = "v3.0"

COUNTERS = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}
"""Columns that every dataset has."""

WIDEST = 4096
NAME = re.compile(r"\w[\w.+\- ]{0,99}")


def raw_path(channel: str) -> str:
    """Where a channel lives whose samples are not one per command."""
    return f"raw/{channel}.parquet"


def require_storable(interface: Interface) -> None:
    """Raise when a channel's name or width has no place in the layout."""
    names = Counter(str(c.name).casefold() for c in interface.commands + interface.measurements)
    for channel in interface.commands + interface.measurements:
        found = _objection(channel, channel in interface.measurements, names)
        if found:
            raise GaplessError(f"channel {channel.name!r} of {interface.robot!r} cannot be stored: {found}. Rename it.")


def _objection(channel: Channel, measured: bool, names: Mapping[str, int]) -> str:
    name = channel.name
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return "a name is made of at most 100 letters, digits, spaces and . _ - + and begins with a letter or digit"
    if not isinstance(channel.width, int) or channel.width > WIDEST:
        return f"its width is {channel.width}, at most {WIDEST} is possible"
    if not all(isinstance(v, int | float) for v in (channel.scale, channel.offset)) or not isinstance(
        channel.unit, str
    ):
        return "its scale and offset must be numbers and its unit a word"
    if name in COUNTERS or name == "task" or name.split(".")[0] in ("action", "observation"):
        return "LeRobot uses that name itself"
    if name.endswith(".time") or (measured and name == "command"):
        return "its column would be taken for a clock"
    if names[name.casefold()] > 1:
        return "another channel has the same name but for capitals, which some file systems cannot tell apart"
    return ""


def features(interface: Interface, raw: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Every column of the data file as LeRobot declares it; channels in `raw` have no columns of their own."""
    declared: dict[str, dict[str, Any]] = {}
    if interface.commands:
        declared["action"] = _feature("float32", interface.command_width, axes(interface.commands))
    if interface.measurements:
        declared["observation.state"] = _feature("float32", interface.measurement_width, axes(interface.measurements))
    declared["command.time"] = _feature("float64", 1)
    for channel in interface.commands:
        declared[channel.name] = _feature("float64", channel.width)
    for channel in interface.measurements:
        if channel.name not in raw:
            declared[channel.name] = _feature("float64", channel.width)
            declared[f"{channel.name}.time"] = _feature("float64", 1)
    return declared | {name: _feature(kind, 1) for name, kind in COUNTERS.items()}


def axes(channels: Sequence[Channel]) -> list[str]:
    """One name per number: the channel's, with its place if the channel is wider than one."""
    return [c.name if c.width == 1 else f"{c.name}.{i}" for c in channels for i in range(c.width)]


def _feature(kind: str, width: int, names: list[str] | None = None) -> dict[str, Any]:
    return {"dtype": kind, "shape": [width], "names": names}


def arrow_type(feature: Mapping[str, Any]) -> pa.DataType:
    """The Parquet type of a declared feature: a scalar, or a list of fixed size."""
    scalar = {"float32": pa.float32(), "float64": pa.float64(), "int64": pa.int64()}[feature["dtype"]]
    width = feature["shape"][0]
    return scalar if width == 1 else pa.list_(scalar, width)


def info(interface: Interface, declared: Mapping[str, Any], lengths: Sequence[int]) -> dict[str, Any]:
    """meta/info.json for episodes of the given lengths."""
    fps = 1 / interface.period_s
    return {
        "codebase_version": VERSION,
        "robot_type": interface.robot,
        "total_episodes": len(lengths),
        "total_frames": sum(lengths),
        "total_tasks": 1,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": round(fps) if round(fps) > 0 and np.isclose(fps, round(fps), rtol=1e-9) else fps,
        "splits": {"train": f"0:{len(lengths)}"},
        "data_path": DATA_TEMPLATE,
        "video_path": None,
        "features": dict(declared),
    }
