"""The fewest parameters, of the fewest families, that need to differ from the data sheet."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float

PARAMETER = 6.0
"""Squared deviations that a parameter must explain, whatever else departs."""
FAMILY = 6.0
"""What the first of a family must explain besides."""
MANY = 8
"""Departures above which pairs are not exchanged: there are too many, and single steps lead down."""


@dataclass(frozen=True)
class Doubt:
    """Parameters that may be wrong: where logs put them, how surely, and what else they could be."""

    found: Float[np.ndarray, " param"]
    nominal: Float[np.ndarray, " param"]
    low: Float[np.ndarray, " param"]
    high: Float[np.ndarray, " param"]
    precision: Float[np.ndarray, "param param"]
    families: tuple[str, ...]
    never_all: tuple[int, ...] = ()
    """Parameters of which one at least is nominal: what all of them do together is another one's part."""

    def values(self, kept: Bool[np.ndarray, " param"]) -> Float[np.ndarray, " param"]:
        """All parameters where these are free to make up for the others, which are nominal; none beyond what may be."""
        index, values = np.flatnonzero(kept), self.nominal.copy()
        if len(index):
            pulled = self.precision[index] @ (self.found - self.nominal)
            values[index] += np.linalg.solve(self.precision[np.ix_(index, index)], pulled)
        return np.clip(values, self.low, self.high)

    def price(self, kept: Bool[np.ndarray, " param"]) -> float:
        """Squared deviations that logs would miss, and the price of what departs."""
        if self.never_all and kept[list(self.never_all)].all():
            return np.inf
        missed = self.values(kept) - self.found
        families = {f for f, k in zip(self.families, kept, strict=True) if k}
        return float(missed @ self.precision @ missed) + PARAMETER * int(kept.sum()) + FAMILY * len(families)


def departures(doubt: Doubt) -> Bool[np.ndarray, " param"]:
    """Which parameters need to depart from nominal: the cheapest set that steps from everything and from nothing lead to.

    A step drops one, adds one, or exchanges one or two for another: a delay of all sensors is one of the commands.
    """
    size = len(doubt.found)
    ends = [_descended(doubt, start) for start in (np.ones(size, bool), np.zeros(size, bool))]
    return min(ends, key=doubt.price)


def _descended(doubt: Doubt, kept: Bool[np.ndarray, " param"]) -> Bool[np.ndarray, " param"]:
    """The cheapest neighbour of the cheapest neighbour, and so on, to where there is none."""
    price = doubt.price(kept)
    while True:
        prices = [(doubt.price(near), tuple(near)) for near in _neighbours(kept)]
        cheapest, near = min(prices, default=(price, ()))
        if cheapest >= price - 1e-9:
            return kept
        kept, price = np.array(near), cheapest


def _neighbours(kept: Bool[np.ndarray, " param"]) -> Iterator[Bool[np.ndarray, " param"]]:
    inside, outside = np.flatnonzero(kept), np.flatnonzero(~kept)
    dropped = [(), *combinations(inside, 1), *(combinations(inside, 2) if len(inside) <= MANY else ())]
    added = [(), *combinations(outside, 1)]
    for out in dropped:
        for new in added:
            if out or new:
                near = kept.copy()
                near[list(out)], near[list(new)] = False, True
                yield near
