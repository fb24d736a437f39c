"""Whether what was learned may stay: only if it foresees held-out throws better than what it began from, beyond doubt."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float

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


def judged(begun: Errors, looks: Sequence[Errors], margin: float) -> Verdict:
    """Refused unless some look's gain exceeds so many standard errors; a look that cannot foresee some throw gains nothing."""
    gains = np.asarray(begun, np.float64) - np.asarray(looks, np.float64)
    sure = np.all(np.isfinite(gains), axis=1)
    gains = np.where(sure[:, None], gains, 0.0)
    means, doubts = gains.mean(axis=1), gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
    least = np.where(sure, means - margin * doubts, -np.inf)
    look = int(np.argmax(least))
    return Verdict(bool(least[look] > 0), look, float(means[look]), float(doubts[look]))
