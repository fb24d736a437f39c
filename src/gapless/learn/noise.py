"""How noisy the sensors are, read off the logs alone: what a smooth curve through a few samples leaves over."""

import numpy as np

from gapless.core import Log

SAMPLES, DEGREE, QUIET = 8, 3, 0.25
# The lower quartile of a chi-square variable with SAMPLES − DEGREE − 1 degrees of freedom, per degree.
QUIET_SHARE = 1.923 / (SAMPLES - DEGREE - 1)


def sensor_noise(logs: list[Log]) -> dict[str, float]:
    """The deviation of each channel's noise, from its quietest pieces; never zero."""
    return {name: _channel_noise(logs, name) for name in logs[0].interface.measurement_names}


def _channel_noise(logs: list[Log], name: str) -> float:
    variances = [v for log in logs for v in _leftovers(log.measurement_time[name], log.measurements[name])]
    if not variances:
        return 1e-6
    found = float(np.sqrt(np.quantile(variances, QUIET) / QUIET_SHARE))
    spread = max(float(np.nanstd(log.measurements[name])) for log in logs)
    return max(found, 1e-5 * spread, 1e-9)


def _leftovers(clock: np.ndarray, values: np.ndarray) -> list[float]:
    found = []
    for first in range(0, len(clock) - SAMPLES + 1, SAMPLES):
        here = slice(first, first + SAMPLES)
        for column in values[here].T:
            if not np.isfinite(column).all():
                continue
            basis = np.vander(clock[here] - clock[here].mean(), DEGREE + 1)
            rest = column - basis @ np.linalg.lstsq(basis, column, rcond=None)[0]
            found.append(float(rest @ rest) / (SAMPLES - DEGREE - 1))
    return found
