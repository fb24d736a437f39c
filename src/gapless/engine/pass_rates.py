"""What a count of passes says about a pass rate, and whether one policy passes less often than another in the same worlds."""

from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import beta, binom

SHARE = 0.95
"""Probability that an interval claims."""


class PassRate(NamedTuple):
    """Passes among worlds, with the rates between which the true one lies."""

    passed: int
    of: int
    low: float
    high: float


class Paired(NamedTuple):
    """Two policies in the same worlds: how many the new one loses and wins, and how likely chance would lose as many."""

    lost: int
    won: int
    chance: float


def pass_rate(passed: int, of: int, share: float = SHARE) -> PassRate:
    """With the interval of Clopper and Pearson (1934), which claims no more than it holds, however few the worlds."""
    tail = (1 - share) / 2
    low = float(beta.ppf(tail, passed, of - passed + 1)) if passed else 0.0
    high = float(beta.ppf(1 - tail, passed + 1, of - passed)) if passed < of else 1.0
    return PassRate(passed, of, low, high)


def paired(before: Sequence[bool], after: Sequence[bool]) -> Paired:
    """McNemar's exact test, one-sided: worlds in which both do the same say nothing about who is better."""
    lost = sum(a and not b for a, b in zip(before, after, strict=True))
    won = sum(b and not a for a, b in zip(before, after, strict=True))
    return Paired(lost, won, float(binom.sf(lost - 1, lost + won, 0.5)) if lost else 1.0)
