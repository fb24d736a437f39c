"""What is asked of a watch before it is learned, and what is known of it after."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Array, Float

from gapless.core import GaplessError
from gapless.nets.fitting import FitNetwork
from gapless.nets.watch import Watch

Simulated = tuple[Float[Array, "step world width"], Float[Array, "step world command"]]
"""Measurements and commands of simulated episodes."""
Own = list[tuple[Float[np.ndarray, "step width"], Float[np.ndarray, "step command"]]]
"""The same of each of the robot's own."""


@dataclass(frozen=True)
class LearnWatch:
    """Fit a monitor of a policy."""

    worlds: int = 256
    """Simulated episodes that it is fitted to, and as many again that set its threshold."""
    frames: int = 12
    """Measurements that a look sees: the more, the better it knows the speed."""
    horizons: tuple[int, ...] = (1, 5, 10, 20)
    """Periods ahead. Near ones see what jumps, far ones what creeps."""
    hidden: tuple[int, int] = (64, 2)
    """Width and number of the hidden layers of a look."""
    fit: FitNetwork = field(default_factory=lambda: FitNetwork(rate=2e-3, batch=256, steps=3000))
    """How a look is fitted."""
    slack: float = 3.0
    """Mean square of what is off that is still well; it is 1 in healthy simulated episodes."""
    false_alarms: float = 0.001
    """Share of healthy simulated episodes whose sums may be above the threshold before its margin."""
    margin: float = 1.4
    """The threshold is this many times what the others stay below."""
    enough: int = 16
    """Healthy episodes of the robot from which on each number is summed apart."""
    pays: float = 0.6
    """Share of what is off, in squares, that looks must leave over to lean towards the robot."""
    unseen: float = 10.0
    """What its own episodes have not shown of what is well, where they say it: with n of them, 1 + unseen / n times the most that
    any came to still is."""

    def __post_init__(self) -> None:
        if min(self.worlds, self.frames - 1, *self.horizons) < 1 or not 0 < self.false_alarms < 0.1:
            raise GaplessError(
                "a watch needs worlds and horizons of at least 1, frames of 2 and 0 < false_alarms < 0.1."
            )
        if self.margin < 1 or self.unseen < 0 or self.enough < 2:
            raise GaplessError("a watch needs margin ≥ 1, unseen ≥ 0 and at least 2 of the robot's own episodes.")

    def own_margin(self, episodes: int) -> float:
        """How many times what so many episodes of the robot's own came to is still well."""
        return 1 + self.unseen / episodes


@dataclass(frozen=True)
class LearntWatch:
    """A watch and what is known of it."""

    watch: Watch
    simulated: Float[np.ndarray, " episode"]
    """How near each simulated episode comes to an alarm, as a share of the threshold. Above 1 are other robots that the belief
    allows, where the robot's own episodes set the thresholds."""
    real: Float[np.ndarray, " episode"]
    """The same of each of the robot's own; looks that were bent by them had not seen it."""
    widened: float
    """How much further from what is expected the robot is than the looks say, for the measurement where that is most."""
