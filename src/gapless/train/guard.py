"""What keeps a policy from living off the errors of a learned simulator: doubt costs, too much of it ends an episode, and
somebody else says what the policy is worth."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Array, Float

from gapless.core import Belief, GaplessError, Signals, Simulator

MOST = 0.99
"""Share of all doubts about transitions that were not taught beyond which doubt is too much."""


@dataclass(frozen=True)
class Guard:
    """A price and a bound for a simulator's own doubt, and another simulator in which the policy is looked at."""

    signal: str
    """The privileged signal that is the doubt."""
    most: float
    """Doubt that costs as much as a period is usually worth, less of it in proportion; beyond it, an episode is cut short."""
    elsewhere: Simulator
    """Where looks are taken: nothing that the policy trains in, such as a member held out."""
    belief: Belief
    """What is believed there."""

    def __post_init__(self) -> None:
        if not self.most > 0:
            raise GaplessError(f"the most that a simulator may doubt itself must be above 0 (found {self.most:g}).")

    def share(self, privileged: Signals) -> Float[Array, " world"]:
        """Doubt as a share of the most."""
        return privileged[self.signal][:, 0] / self.most


def calibrated(signal: str, doubts: Float[np.ndarray, " period"], elsewhere: Simulator, belief: Belief) -> Guard:
    """The guard for a simulator whose doubts, on transitions that it was not taught, are these."""
    return Guard(signal, float(np.quantile(doubts, MOST)), elsewhere, belief)
