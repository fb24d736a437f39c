"""Model predictive path integrals: the next plan is the mean of random ones, weighted by what they return.

Follows Williams et al. 2017. It departs in two places: the price of a command is what the task says and no term of its own, and
the temperature is a share of how much the returns of the candidates differ, so that it means the same for every task.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError

from .knots import coloured_noise
from .plan import Candidates, Plan


@dataclass(frozen=True)
class Mppi:
    """Weigh random plans by the exponential of their returns."""

    noise: float = 0.4
    """Deviation of a candidate from the plan, as a share of half the command range."""
    temperature: float = 0.15
    """Difference in return that costs a factor e of weight, as a share of the candidates' deviation."""
    colour: float = 0.0
    """Power of the noise falls as frequency to this: 0 is white, which knots make smooth anyway."""
    iterations: int = 1
    """Rounds per control period, each around the plan of the one before."""

    def __post_init__(self) -> None:
        if self.noise <= 0 or self.temperature <= 0 or self.iterations < 1:
            raise GaplessError("mppi needs noise and temperature above 0 and at least one iteration.")

    def begin(self, knots: int, width: int) -> Plan:
        """Resting in the middle of the command range."""
        still = jnp.zeros((knots, width))
        return Plan(still, jnp.full((knots, width), self.noise), still, still[None])

    def propose(self, plan: Plan, samples: int, key: PRNGKeyArray) -> Candidates:
        """The plan itself first, then changes of it."""
        change = coloured_noise(key, samples - 1, plan.mean.shape, self.colour)
        return jnp.concatenate([plan.mean[None], jnp.clip(plan.mean + plan.deviation * change, -1, 1)])

    def refit(self, plan: Plan, candidates: Candidates, returns: Float[Array, " sample"]) -> Plan:
        """The weighted mean of the candidates; it is also what is sent."""
        share = weights(returns, self.temperature * jnp.std(returns))
        mean = jnp.einsum("s,skc->kc", share, candidates)
        return plan._replace(mean=mean, best=mean)


def weights(returns: Float[Array, " sample"], temperature: Float[Array, ""] | float) -> Float[Array, " sample"]:
    """Shares that sum to one, larger by a factor e for each `temperature` of return."""
    return jax.nn.softmax((returns - jnp.max(returns)) / jnp.maximum(temperature, 1e-12))
