"""What was expected of a chosen motion, as figures: its commands, how it would go, and what it would teach."""

from typing import Any

import numpy as np
from jaxtyping import Float

from gapless.core import Channel, Interface, Log
from gapless.learn import Design

MOST_ROWS = 150
"""Moments of a motion that are kept."""


def promise_of(found: Design, limits: Interface) -> dict[str, Any]:
    """Every channel as it goes at the belief's centre, with its lowest and highest value in any draw and its limits."""
    rows = np.unique(np.linspace(0, len(found.rows) - 1, MOST_ROWS).astype(int))
    commands, channels, first = found.course.commands[0], [], 0
    for channel in limits.commands:
        parts = commands[:, rows, first : first + channel.width]
        channels += [_channel("command", channel, k, parts[..., k]) for k in range(channel.width)]
        first += channel.width
    for channel in limits.measurements:
        seen = found.course.seen[channel.name][0][:, rows]
        channels += [_channel("measurement", channel, k, seen[..., k]) for k in range(channel.width)]
    return {
        "time_s": (rows * limits.period_s).tolist(),
        "channels": channels,
        "draws": len(commands),
        "usage": found.usage,
        "now": found.now,
        "after": found.after,
    }


def fulfilled(promise: dict[str, Any], log: Log) -> dict[str, Any]:
    """The promise beside what then was sent and measured."""
    times = np.asarray(promise["time_s"])
    return promise | {
        "episode": log.source.get("episode"),
        "channels": [c | {"measured": _measured(log, c, times)} for c in promise["channels"]],
    }


def _channel(kind: str, channel: Channel, part: int, values: Float[np.ndarray, "draw row"]) -> dict[str, Any]:
    return {
        "kind": kind, "name": channel.name, "part": part if channel.width > 1 else None, "unit": channel.unit,
        "limit_low": channel.low, "limit_high": channel.high,
        "expected": values[0].tolist(), "low": values.min(axis=0).tolist(), "high": values.max(axis=0).tolist(),
    }  # fmt: skip


def _measured(log: Log, channel: dict[str, Any], times: Float[np.ndarray, " row"]) -> list[float | None]:
    """The newest sample at each time; None before the first and after the last."""
    command = channel["kind"] == "command"
    clock = log.command_time if command else log.measurement_time[channel["name"]]
    values = (log.commands if command else log.measurements)[channel["name"]][:, channel["part"] or 0]
    newest = np.searchsorted(clock, times + log.interface.period_s / 2) - 1
    ended = times > (clock[-1] if len(clock) else -1.0) + log.interface.period_s
    return [None if k < 0 or over else float(values[k]) for k, over in zip(newest, ended, strict=True)]
