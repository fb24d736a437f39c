"""The yardstick on real recordings: `mujoco.sysid` with the same parameters, bounds and starts as ours."""

from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import mujoco
import numpy as np

from gapless.core import Log, Params
from gapless.simulators import MujocoSimulator
from gapless.simulators.latency import integrator_lead_s
from glue import PIECE_S, Residual

FIRST_S = 0.2
"""Pieces of a first round, as ours has one; from where that ends the full pieces are fitted once more."""


def sysid_fit(simulator: MujocoSimulator, spec: mujoco.MjSpec, logs: list[Log]) -> Params:
    """What `mujoco.sysid` finds; logs come to it on an even clock, as it wants them."""
    free = list(simulator.parameters)
    even = [_even(log) for log in logs]
    short, full = (Residual(simulator, spec, even, free, seconds) for seconds in (FIRST_S, PIECE_S))
    with redirect_stdout(StringIO()):  # it tells every iteration
        tried = [full.by_sysid(), full.by_sysid(short.by_sysid())]
    found = dict(zip((p.name for p in free), min(tried, key=full.cost), strict=True))
    if "command.latency" in found:  # our simulator adds its integrator's own lead to what is asked for
        found["command.latency"] = max(found["command.latency"] - integrator_lead_s(simulator.model), 0.0)
    return found


def _even(log: Log) -> Log:
    """The measurements on a clock of even steps, interpolated."""
    first = next(iter(log.measurement_time.values()))
    clock = np.arange(first[0], first[-1], log.interface.period_s)
    values = {
        name: np.stack([np.interp(clock, log.measurement_time[name], column) for column in rows.T], axis=1)
        for name, rows in log.measurements.items()
    }
    return replace(log, measurements=values, measurement_time=dict.fromkeys(values, clock))
