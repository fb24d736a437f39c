"""How far a machine agrees with itself: logs of the same commands, compared as predictions are."""

from itertools import combinations

import numpy as np

from gapless.core import Log, Simulator

from .foresight import Foresight

CLOCK_S = 1e-3
"""Commands are the same if they were sent at the same times, to this."""


def repeatability(simulator: Simulator, logs: list[Log], like: Foresight, params: np.ndarray) -> float | None:
    """Mean square difference of repeats, per run, where windows begin alike; None where nothing was repeated."""
    found = []
    for one, other in combinations(logs, 2):
        if same_commands(one, other):
            pair = Foresight(simulator, [one, other], like.names, like.fixed, most=10**6)
            pair.refer(simulator, params)
            found.append(pair.differences())
    return float(np.mean(np.concatenate(found))) if found else None


def same_commands(one: Log, other: Log) -> bool:
    """Whether two logs sent the same at the same times, for as long as the shorter one lasts, and it was not nothing."""
    rows = min(len(one), len(other))
    clocks = [log.command_time[:rows] - log.command_time[0] for log in (one, other)] if rows else []
    if rows < 2 or np.abs(clocks[0] - clocks[1]).max() > CLOCK_S:
        return False
    pairs = [(one.commands[name][:rows], other.commands[name][:rows]) for name in one.interface.command_names]
    return all(np.allclose(a, b, rtol=0, atol=1e-9) for a, b in pairs) and any(np.ptp(a) > 0 for a, _ in pairs)
