"""What keeps a policy from living off the errors of a learned simulator: doubt costs, too much of it ends an episode, and
somebody else says what the policy is worth."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.core import Belief, GaplessError, Signals, Simulator

USUAL, MOST = 0.5, 0.99
"""Shares of all doubts about transitions that were not taught: up to the first doubt is free, beyond the second episodes end."""


@dataclass(frozen=True)
class Guard:
    """A price and a bound for a simulator's own doubt, and another simulator in which the policy is looked at."""

    signal: str
    """The privileged signal that is the doubt."""
    usual: float
    """Doubt that costs nothing."""
    most: float
    """Doubt that costs as much as a period is usually worth; beyond it, an episode is cut short."""
    elsewhere: Simulator
    """Where looks are taken: nothing that the policy trains in, such as a member held out."""
    belief: Belief
    """What is believed there."""

    def __post_init__(self) -> None:
        if not 0 <= self.usual < self.most:
            raise GaplessError(f"doubt that is usual ({self.usual:g}) must be less than the most ({self.most:g}).")

    def share(self, privileged: Signals) -> Float[Array, " world"]:
        """Doubt as a share of the way from the usual to the most: 0 up to the one, 1 at the other, more beyond."""
        return jnp.maximum(0.0, (privileged[self.signal][:, 0] - self.usual) / (self.most - self.usual))


def calibrated(signal: str, doubts: Float[np.ndarray, " period"], elsewhere: Simulator, belief: Belief) -> Guard:
    """The guard for a simulator whose doubts, on transitions that it was not taught, are these."""
    usual, most = (float(q) for q in np.quantile(doubts, [USUAL, MOST]))
    return Guard(signal, usual, most, elsewhere, belief)
