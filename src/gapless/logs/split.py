"""Which logs a fit may see and which it is judged by: whole episodes, chosen by their place and by nothing else."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gapless.core import GaplessError, Log

BRIEF_S = 1.0
"""Logs that are shorter are not worth cutting."""


class Parted(NamedTuple):
    """Logs that a fit may see, and logs that it is judged by."""

    training: list[Log]
    held_out: list[Log]


def split(logs: Sequence[Log], held_out_share: float = 0.25) -> Parted:
    """Logs to learn from and logs held out: with a share of a quarter, every fourth is held out.

    A log's side depends on its place only, so logs added later move none across. Fewer logs than that share needs:
    the last is held out. One log: it is cut in time, the last part held out, each part's clock starting at zero; one
    with fewer than two commands cannot be cut and is learnt from.
    """
    if not logs:
        raise GaplessError("there are no logs to split. Record or import some first.")
    if not 0 < held_out_share < 1:
        raise GaplessError(f"the held-out share is {held_out_share}; it must lie between 0 and 1.")
    if len(logs) == 1:
        return _cut(logs[0], held_out_share)
    held = [i for i in range(len(logs)) if math.floor((i + 1) * held_out_share) > math.floor(i * held_out_share)]
    held = held[: len(logs) - 1] or [len(logs) - 1]
    return Parted([log for i, log in enumerate(logs) if i not in held], [logs[i] for i in held])


def split_each(logs: Sequence[Log], held_out_share: float = 0.25) -> Parted:
    """Logs cut in time, the last part of each held out: every motion is learnt from, and every one is judged by. What ended
    within a second is only learnt from, as long as others judge."""
    brief = [log.seconds < BRIEF_S for log in logs]
    parts = [
        Parted([log], []) if short and not all(brief) else _cut(log, held_out_share)
        for log, short in zip(logs, brief, strict=True)
    ]
    return Parted([log for first, _ in parts for log in first], [log for _, last in parts for log in last])


def _cut(log: Log, held_out_share: float) -> Parted:
    if len(log) < 2:
        return Parted([log], [])
    row = min(max(round(len(log) * (1 - held_out_share)), 1), len(log) - 1)
    at_s = float(log.command_time[row])
    return Parted([piece(log, -math.inf, at_s)], [piece(log, at_s, math.inf)])


def piece(log: Log, from_s: float, to_s: float) -> Log:
    """What was sent and taken from `from_s` on and before `to_s`; its clock starts at `from_s` if that is finite."""
    origin = from_s if math.isfinite(from_s) else 0.0
    sent = _between(log.command_time, from_s, to_s)
    clocks = {name: log.measurement_time.get(name, np.empty(0)) for name in log.measurements}
    taken = {name: _between(clock, from_s, to_s) for name, clock in clocks.items()}
    return replace(
        log,
        commands={name: values[sent] for name, values in log.commands.items()},
        measurements={name: values[taken[name]] for name, values in log.measurements.items()},
        command_time=log.command_time[sent] - origin,
        measurement_time={name: clock[taken[name]] - origin for name, clock in clocks.items()},
        source={**log.source, "cut_from_s": origin},
    )


def _between(clock: np.ndarray, from_s: float, to_s: float) -> np.ndarray:
    return (clock >= from_s) & (clock < to_s)
