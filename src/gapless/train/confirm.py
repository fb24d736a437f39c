"""Whether a policy is worth elsewhere what was believed of it; where not, the next best one is asked about."""

from typing import NamedTuple

from gapless.core import GaplessError
from gapless.nets.policy import NetworkPolicy

from .look import Look
from .train import Trained

OPTIMISM = 0.05
"""By how much of the real return the believed one may be off."""
TRIES = 3


class Confirmed(NamedTuple):
    """A policy, with what was believed of it and what it turned out to be worth."""

    policy: NetworkPolicy
    believed: float
    real: float
    holds: bool
    """Whether the two are near enough to each other."""
    tried: int
    """Policies asked about."""


def confirmed(found: Trained, real: Look, optimism: float = OPTIMISM, tries: int = TRIES) -> Confirmed:
    """Of the policies on the way, the best believed that `real` confirms; if it confirms none, the one worth most there."""
    if tries < 1:
        raise GaplessError(f"a policy is confirmed by at least one try (found {tries}).")
    values = [value for _, value in found.curve[-len(found.looks) :]]
    best = sorted(zip(values, range(len(values)), strict=True), reverse=True)[:tries]
    asked = list[Confirmed]()
    for believed, k in best:
        worth, _ = real.at(found.looks[k])
        near = abs(believed - worth) <= optimism * abs(worth)
        asked.append(Confirmed(found.looks[k], believed, worth, near, len(asked) + 1))
        if near:
            return asked[-1]
    return max(asked, key=lambda one: one.real)._replace(tried=len(asked))
