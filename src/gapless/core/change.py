"""A parameter that is not the same all through an episode: somebody hangs a load on the arm, at a time that nobody tells it."""

import math
from dataclasses import dataclass

from .errors import GaplessError


@dataclass(frozen=True)
class Change:
    """In every episode, at a time between `from_s` and `to_s`, a parameter is drawn anew from `low` to `high`, both evenly."""

    param: str
    """Which, by its name."""
    low: float
    """Smallest value that it may take."""
    high: float
    """Largest value that it may take; the same as the smallest where it is no matter of chance."""
    from_s: float
    """Earliest time of the change, from the start of the episode."""
    to_s: float
    """Latest time of the change."""

    def __post_init__(self) -> None:
        if not self.param or not all(map(math.isfinite, (self.low, self.high, self.from_s, self.to_s))):
            raise GaplessError(f"the change of {self.param!r} needs a parameter's name and four finite numbers.")
        if self.low > self.high or not 0 < self.from_s <= self.to_s:
            raise GaplessError(
                f"the change of {self.param!r} needs low ≤ high and 0 < from_s ≤ to_s (found {self.low} to {self.high}, "
                f"from {self.from_s} s to {self.to_s} s)."
            )
