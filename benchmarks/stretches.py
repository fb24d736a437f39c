"""The stretches of a log in which the machine moves: a machine at rest teaches little, and looks like a sensor without noise."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from gapless.core import Log

BLOCK_S = 0.25
BEFORE_S = 0.12
"""A stretch begins so much earlier: fits wait a little before their first window."""
SPAN = {"rad": 0.05, "m": 0.01}
"""How far some joint must move within a block."""


def moving(logs: list[Log], least_s: float) -> list[Log]:
    """All stretches of at least `least_s` in which no block rests, as logs on their own."""
    return [piece for log in logs for piece in _stretches(log, least_s)]


def _stretches(log: Log, least_s: float) -> list[Log]:
    clock = next(iter(log.measurement_time.values()))
    edges = np.arange(clock[0], clock[-1] + 1e-9, BLOCK_S)
    lively = np.array([_moves(log, a, b) for a, b in pairwise(edges)], bool)
    change = np.flatnonzero(np.diff(np.concatenate([[0], lively.astype(int), [0]])))
    spans = [(edges[a] - BEFORE_S, edges[b]) for a, b in zip(change[::2], change[1::2], strict=True)]
    return [_between(log, a, b) for a, b in spans if b - a >= least_s + BEFORE_S]


def _moves(log: Log, begin: float, end: float) -> bool:
    for channel in log.interface.measurements:
        clock = log.measurement_time[channel.name]
        here = log.measurements[channel.name][(clock >= begin) & (clock < end)]
        if channel.unit in SPAN and len(here) and np.ptp(here) > SPAN[channel.unit]:
            return True
    return False


def _between(log: Log, begin: float, end: float) -> Log:
    """A part of a log on the same clock, with all commands: earlier ones may still be under way."""
    rows = {name: (clock >= begin) & (clock <= end) for name, clock in log.measurement_time.items()}
    return replace(
        log,
        measurements={name: values[rows[name]] for name, values in log.measurements.items()},
        measurement_time={name: clock[rows[name]] for name, clock in log.measurement_time.items()},
    )
