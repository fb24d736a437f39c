"""Stretches of a channel in which the very same number comes again and again."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

MOVING = 4.0
"""A channel moves where its steps are this many times its smallest."""


@dataclass(frozen=True)
class Run:
    """Samples from `first` on that repeat the one before them."""

    first: int
    length: int
    """How many repeat; the sample that is repeated does not count."""
    value: float
    entered: bool
    """Whether the channel was moving when the run began."""
    left: bool
    """Whether it moved on at once when the run ended."""


def runs(values: Float[np.ndarray, " time"]) -> list[Run]:
    """All runs of equal neighbours."""
    steps = np.diff(values)
    still = np.concatenate([[False], steps == 0, [False]])
    begins = np.flatnonzero(~still[:-1] & still[1:]).tolist()
    ends = np.flatnonzero(still[:-1] & ~still[1:]).tolist()
    moving = _moving(steps)
    return [
        Run(b + 1, e - b, float(values[b]), b > 0 and bool(moving[b - 1]), e < len(steps) and bool(moving[e]))
        for b, e in zip(begins, ends, strict=True)
    ]


def _moving(steps: Float[np.ndarray, " step"]) -> np.ndarray:
    """Steps that are no rounding of a channel at rest: more than a few of its smallest ones, and of its typical size."""
    size = np.abs(steps)
    some = size[size > 0]
    if not len(some):
        return np.zeros(len(steps), bool)
    return size > max(MOVING * some.min(), 0.3 * np.median(some))
