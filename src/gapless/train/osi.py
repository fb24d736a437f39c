"""A universal policy with online system identification: told the params in simulation, it finds them out on the robot.

Follows Yu et al. 2017. First a policy that is told the params is trained by PPO; then a network learns by supervision to tell
them from the last observations and commands, in worlds that the policy drives by its estimates. Departures: estimates drive
from the first batch on, where the paper begins with the true params (a network that knows nothing guesses about the belief's
centre); and estimates end three deviations of the belief from its centre.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError
from gapless.nets.policy import NetworkPolicy, Shape, new_policy, shape_of
from gapless.nets.seeing import SeeingPolicy
from gapless.nets.settled import guessing

from .batches import Batches
from .learning import Place
from .phases import Phases, share_of
from .ppo import Ppo
from .privileged import network_of, told_first
from .rma import Guessed, Guessing, Learner, RmaRule

REACH = 3.0
"""How far estimates go, in deviations of the belief."""


@dataclass(frozen=True)
class UpOsi(Guessing):
    """Train a policy that is told the params, then find the params from motion."""

    word: ClassVar[str] = "up-osi"

    universal: Ppo = field(default_factory=Ppo)
    """How the universal policy learns, in our worlds and steps; it is told all that the belief draws, unless it names some."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.universal.network != "mlp":
            raise GaplessError(
                f"a universal policy is told what others remember: its network cannot be {self.universal.network!r}. "
                "Choose 'mlp'."
            )

    def learning(self, place: Place, key: PRNGKeyArray, begin_with: SeeingPolicy | None = None) -> Phases:
        """Always anew: what another policy's estimates meant, only its own universal policy knew."""
        keys = jax.random.split(key)
        length, left = share_of(self.budget, self.basis, self.per_iteration)
        first = told_first(self.universal, self, place, length, keys[0])
        second = replace(self, budget=left * self.per_iteration)
        estimates = _estimates(place, network_of(first).told)
        return Phases(first, second.identifying(place, network_of(first), keys[1]), length, estimates.adapts)

    def identifying(self, place: Place, universal: NetworkPolicy, key: PRNGKeyArray) -> Batches:
        """The second phase of a universal policy that is already there; the whole budget goes into the estimates."""
        shape = Shape(shape_of(universal).hidden, "adapting", latent=len(universal.told))
        untaught = new_policy(place.simulator.interface, place.task.observe, shape, key)
        rule = RmaRule(self, untaught, universal, _estimates(place, universal.told))
        return Batches(place, self, rule, rule.new())


def _estimates(place: Place, told: tuple[str, ...]) -> Guessed:
    """What is told, ±1 at the reach of estimates."""
    mean, deviation = place.belief.mean(), place.belief.deviation()
    middle, half = (jnp.asarray(np.array([float(of[name]) for name in told]), jnp.float32) for of in (mean, deviation))
    half = jnp.maximum(REACH * half, 1e-9)

    def latent(universal: NetworkPolicy, seen: Float[Array, " seen"]) -> Float[Array, " told"]:
        return jnp.clip((seen[len(seen) - len(told) :] - middle) / half, -1, 1)

    def adapts(learner: Learner, universal: NetworkPolicy) -> Learner:
        return learner._replace(policy=guessing(learner.policy, universal, middle, half), base=universal)

    return Guessed(latent, adapts)
