"""The cross-entropy method: candidates are drawn again and again around the best of the last ones.

Follows iCEM (Pinneri et al. 2020): noise smooth in time, elites that are kept between rounds and moved along between periods, and
the best candidate's command sent instead of the mean's. It departs in that every round has the same number of candidates,
because a batch of worlds has.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError

from .knots import coloured_noise
from .plan import Candidates, Plan


@dataclass(frozen=True)
class Cem:
    """Refit mean and deviation to the best candidates."""

    noise: float = 0.5
    """Deviation in the first round, as a share of half the command range."""
    elites: int = 8
    """Best candidates that the next round is drawn around."""
    kept: int = 3
    """Elites that are tried again in the next round and in the next period."""
    momentum: float = 0.1
    """How much of mean and deviation stays as it was."""
    least: float = 0.05
    """Deviation below which no round falls."""
    colour: float = 2.0
    """Power of the noise falls as frequency to this."""
    iterations: int = 3
    """Rounds per control period."""

    def __post_init__(self) -> None:
        if not 1 <= self.kept <= self.elites or self.iterations < 1 or not 0 <= self.momentum < 1 or self.noise <= 0:
            raise GaplessError(
                "cem needs noise above 0, 1 ≤ kept ≤ elites, 0 ≤ momentum < 1 and one iteration or more."
            )

    def begin(self, knots: int, width: int) -> Plan:
        """Resting in the middle of the command range."""
        still = jnp.zeros((knots, width))
        return Plan(still, jnp.full((knots, width), self.noise), still, jnp.zeros((self.kept, knots, width)))

    def propose(self, plan: Plan, samples: int, key: PRNGKeyArray) -> Candidates:
        """The mean and the kept elites first, then random ones."""
        if samples < self.elites or samples < 2 + self.kept:
            raise GaplessError(f"{samples} candidates are too few for {self.elites} elites. Plan with more samples.")
        change = coloured_noise(key, samples - 1 - self.kept, plan.mean.shape, self.colour)
        drawn = jnp.clip(plan.mean + plan.deviation * change, -1, 1)
        return jnp.concatenate([plan.mean[None], plan.kept, drawn])

    def refit(self, plan: Plan, candidates: Candidates, returns: Float[Array, " sample"]) -> Plan:
        """Mean and deviation of the elites, with some of what was before."""
        _, order = jax.lax.top_k(returns, self.elites)
        elites = candidates[order]
        mean = self.momentum * plan.mean + (1 - self.momentum) * elites.mean(0)
        deviation = self.momentum * plan.deviation + (1 - self.momentum) * elites.std(0)
        return Plan(mean, jnp.maximum(deviation, self.least), elites[0], elites[: self.kept])
