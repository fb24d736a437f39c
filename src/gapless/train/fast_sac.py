"""FastSAC: commands as random as their critics allow, with a temperature that keeps the entropy at a target.

Follows Haarnoja et al. 2018 (soft actor-critic with automatic temperature) in the form that Seo et al. 2025 gave it for fast
simulators. How random a command is says a network beside the policy's: what is deployed is the tanh of the mean, a policy as
any other. For what departs see off_policy.py.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.nets.policy import NetworkPolicy

from .learning import Place
from .off_policy import Choice, OffPolicy, OffPolicyRule
from .squash import before_tanh, squashed

NARROWEST, WIDEST = -5.0, 0.0
"""Between which the logarithm of a deviation lies; wider ones press commands against their limits."""


@dataclass(frozen=True)
class FastSac(OffPolicy):
    """FastSAC."""

    word: ClassVar[str] = "fast-sac"

    entropy: float = -1.0
    """What the temperature aims at, in nats per command of ±1."""
    temperature: float = 0.1
    """Worth of a nat at the beginning, in the largest reward so far."""
    temperature_rate: float = 3e-3
    """How fast the logarithm of the temperature follows."""

    def rule(self, place: Place, begin_with: NetworkPolicy | None) -> OffPolicyRule:
        return FastSacRule(self, place, begin_with)


class Random(NamedTuple):
    """How random commands are."""

    width: eqx.nn.MLP
    """An observation → logarithms of deviations, before they are squashed."""
    log_temperature: Float[Array, ""]


class FastSacRule(OffPolicyRule):
    """Randomness that is learnt, and paid for at the temperature."""

    recipe: FastSac

    def beside(self, key: PRNGKeyArray) -> Random:
        interface = self.place.simulator.interface
        seen, command = self.place.task.observe.width(interface), interface.command_width
        width = eqx.nn.MLP(seen, command, *self.recipe.hidden, activation=jnp.tanh, key=key)
        return Random(width, jnp.log(jnp.asarray(self.recipe.temperature)))

    def explored(self, policy: NetworkPolicy, beside: Random, seen: Any, key: PRNGKeyArray) -> Any:
        return self.intended(policy, beside, seen, key).unit

    def foreseen(self, policy: NetworkPolicy, beside: Random, seen: Any, key: PRNGKeyArray) -> Choice:
        return self.intended(policy, beside, seen, key)

    def intended(self, policy: NetworkPolicy, beside: Random, seen: Any, key: PRNGKeyArray) -> Choice:
        share = (1 + jnp.tanh(jax.vmap(beside.width)(policy.normal(seen)))) / 2
        noise = jax.random.normal(key, (len(seen), share.shape[-1]))
        unit, log_likelihood = squashed(before_tanh(policy, seen), NARROWEST + (WIDEST - NARROWEST) * share, noise)
        # The temperature has a rule of its own: through the bonus it would only ever fall or rise.
        return Choice(unit, -jax.lax.stop_gradient(jnp.exp(beside.log_temperature)) * log_likelihood)

    def settled(self, beside: Random, bonus: Float[Array, " row"]) -> Random:
        entropy = (bonus / jnp.exp(beside.log_temperature)).mean()
        wanted = self.recipe.entropy * self.place.simulator.interface.command_width
        return beside._replace(
            log_temperature=tempered(beside.log_temperature, entropy, wanted, self.recipe.temperature_rate)
        )


def tempered(
    log_temperature: Float[Array, ""], entropy: Float[Array, ""], wanted: float, rate: float
) -> Float[Array, ""]:
    """The temperature after an update: higher where commands are less random than wanted, lower where they are more."""
    return log_temperature + rate * jnp.clip(wanted - entropy, -1, 1)
