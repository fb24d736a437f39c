"""Whether a policy is worth elsewhere what was believed of it; where not, the next best one is asked about."""

from typing import NamedTuple

from gapless.nets.seeing import SeeingPolicy

from .look import Look
from .train import Trained

OPTIMISM = 0.05
"""By how much of the real return the believed one may be off."""
TRIES = 3
"""Policies asked about; what is far from the best is no better for being confirmed."""


class Confirmed(NamedTuple):
    """A policy, with what was believed of it and what it turned out to be worth."""

    policy: SeeingPolicy
    believed: float
    real: float
    holds: bool
    """Whether the two are near enough to each other."""
    tried: int
    """Policies asked about."""


def confirmed(found: Trained, real: Look, optimism: float = OPTIMISM) -> Confirmed:
    """Of the best believed policies on the way, the first that `real` confirms; if it confirms none, the one worth most there."""
    values = [value for _, value in found.curve[-len(found.looks) :]]
    asked = list[Confirmed]()
    for believed, k in sorted(zip(values, range(len(values)), strict=True), reverse=True)[:TRIES]:
        worth, _ = real.at(found.looks[k])
        near = abs(believed - worth) <= optimism * abs(worth)
        asked.append(Confirmed(found.looks[k], believed, worth, near, len(asked) + 1))
        if near:
            return asked[-1]
    return max(asked, key=lambda one: one.real)._replace(tried=len(asked))
