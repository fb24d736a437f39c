"""Whether what was learned may stay: only if it foresees held-out throws better than what it began from, beyond doubt."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float

from .folds import Rows

Errors = Float[Array, " toss"]


class Verdict(NamedTuple):
    """What held-out throws say about a course of learning."""

    accepted: bool
    look: int
    """The look of the course that is surest to gain."""
    gain: float
    """By how much the error of a throw is smaller there, in the mean."""
    doubt: float
    """The standard error of that mean."""


def judged(begun: Errors, looks: Sequence[Errors], folds: Sequence[Rows], margin: float) -> Verdict:
    """Refused unless some look's gain exceeds so many standard errors; a look that cannot foresee some throw gains nothing.

    Throws of one fold were foreseen by one thrower: where folds differ more than their throws do, theirs is the standard error.
    """
    gains = np.asarray(begun, np.float64) - np.asarray(looks, np.float64)
    sure = np.all(np.isfinite(gains), axis=1)
    gains = np.where(sure[:, None], gains, 0.0)
    doubts = np.maximum(
        _standard_error(gains), _standard_error(np.stack([gains[:, f].mean(axis=1) for f in folds], axis=1))
    )
    means = gains.mean(axis=1)
    least = np.where(sure, means - margin * doubts, -np.inf)
    look = int(np.argmax(least))
    return Verdict(bool(least[look] > 0), look, float(means[look]), float(doubts[look]))


def _standard_error(rows: Float[np.ndarray, "look number"]) -> Float[np.ndarray, " look"]:
    """Of each mean."""
    return rows.std(axis=1, ddof=1) / np.sqrt(rows.shape[1])
