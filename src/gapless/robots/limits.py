"""When a robot is stopped, beyond the limits that its interface names, and what it rests at."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.core import Channel, GaplessError

PLACES = ("m", "rad")
"""Units of commands that say where to be, and not how hard to push: zero is no rest for them, and holding one is no drive."""
LEAST_WATCHDOG_PERIODS = 2.0
"""A watchdog below this would bark at every command."""


@dataclass(frozen=True)
class Limits:
    """Patience of the safety gate."""

    watchdog_s: float = 0.1
    """Longest time between two commands, and by which waiting may last too long; never less than two control periods.

    It is the loop's patience with a computer that is busy otherwise, hence longer than that with the robot."""
    late_periods: float = 1.0
    """Control periods that the robot may take to measure or to take a command."""
    rate_samples: int = 3
    """Measured rates are taken over this many samples, so that noise does not look like speed."""
    frozen_samples: int = 10
    """Readings in a row that may repeat bit for bit where they should not (see frozen.py); 0: any number."""
    saturated_s: float = math.inf
    """Longest time for which the policy may push against a limit. Bang-bang policies do so rightly, hence no end."""

    def __post_init__(self) -> None:
        if not (self.watchdog_s > 0 and self.late_periods > 0 and self.saturated_s > 0):
            raise GaplessError("limits need watchdog_s, late_periods and saturated_s above 0; inf switches one off.")
        if self.rate_samples < 2 or self.frozen_samples < 0:
            raise GaplessError("limits need rate_samples ≥ 2 and frozen_samples ≥ 0; 0 switches the latter off.")

    def watchdog(self, period_s: float) -> float:
        """Seconds after which a robot counts as left alone."""
        return max(self.watchdog_s, LEAST_WATCHDOG_PERIODS * period_s)

    def late(self, period_s: float) -> float:
        """Seconds that the robot may take for an answer."""
        return self.late_periods * period_s


def rest_of(channel: Channel) -> Float[np.ndarray, " width"]:
    """The command nearest to zero within the channel's limits."""
    return np.clip(np.zeros(channel.width), channel.low, channel.high)
