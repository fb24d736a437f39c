"""How joints moved before a start, from what was measured then."""

import numpy as np

from gapless.core import Holds, Signals


def joints_before(
    holds: Holds, sensed: dict[str, tuple[str, str]], now: Signals, periods: int, period_s: float
) -> Signals:
    """Positions and velocities of all joints in each of the periods before a start, (world, period, width).

    `now` is where they start: what was measured ends there, and what nobody measured has always been there.
    """
    found = {name: np.repeat(values[:, None], periods, axis=1) for name, values in now.items()}
    at_s = period_s * np.arange(-periods, 1)
    rates = {joint for joint, side in sensed.values() if side == "velocity"}
    for channel, (joint, side) in sensed.items():
        course = holds.measured(channel, at_s)
        if course is None:
            continue
        found[f"{joint}.{side}"] = (course[:, :-1] - course[:, -1:] + now[f"{joint}.{side}"])[..., None]
        if side == "position" and joint not in rates:
            found[f"{joint}.velocity"] = np.diff(course, axis=1)[..., None] / period_s
    return found
