"""Put a log with irregular or different clocks on one grid, for those who need one row per control period.

Identification never does this: it reads every sample at its true time.
"""

import math
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Log, on_one_clock


def on_grid(log: Log, period_s: float) -> Log:
    """The log at the first command's time and every `period_s` after it, up to the last command.

    Commands are held from one sending to the next; measurements are interpolated linearly between their neighbours
    and held beyond the first and the last. An angle that was recorded wrapped must be unwrapped before.
    """
    if not (math.isfinite(period_s) and period_s > 0):
        raise GaplessError(f"a grid of period {period_s} s was asked for; it must be positive.")
    times = _grid(log.command_time, period_s)
    return on_one_clock(
        replace(log.interface, period_s=period_s),
        {name: held_at(times, log.command_time, values) for name, values in log.commands.items()},
        {name: _measured(log, name, times) for name in log.measurements},
        times,
        log.source,
    )


def held_at(
    times: Float[np.ndarray, " query"], clock: Float[np.ndarray, " time"], values: Float[np.ndarray, "time width"]
) -> Float[np.ndarray, "query width"]:
    """The newest value at each of the times; before the first sample, the first."""
    newest = np.searchsorted(clock, times, side="right") - 1
    return np.asarray(values, np.float64)[np.maximum(newest, 0)]


def interpolated_at(
    times: Float[np.ndarray, " query"], clock: Float[np.ndarray, " time"], values: Float[np.ndarray, "time width"]
) -> Float[np.ndarray, "query width"]:
    """Straight lines between neighbouring samples; NaN where there is none at all."""
    if not len(clock):
        return np.full((len(times), values.shape[1]), np.nan)
    columns = [np.interp(times, clock, column) for column in np.asarray(values, np.float64).T]
    return np.stack(columns, axis=1)


def _measured(log: Log, name: str, times: Float[np.ndarray, " query"]) -> Float[np.ndarray, "query width"]:
    clock = log.measurement_time.get(name, np.empty(0))
    if len(times) and not len(clock):
        raise GaplessError(f"channel {name!r} has no sample, so it cannot be put on a grid. Drop this log.")
    return interpolated_at(times, clock, log.measurements[name])


def _grid(clock: Float[np.ndarray, " time"], period_s: float) -> Float[np.ndarray, " query"]:
    if not len(clock):
        return np.empty(0)
    # A millionth of a period of slack: 0.3 / 0.1 is a little less than 3.
    periods = math.floor((clock[-1] - clock[0]) / period_s + 1e-6)
    return clock[0] + np.arange(periods + 1) * period_s
