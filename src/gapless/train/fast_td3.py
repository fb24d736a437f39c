"""FastTD3: deterministic commands that follow their critics, explored with a noise of each world's own.

Follows Seo et al. 2025 on top of Fujimoto et al. 2018 (TD3: the lower of two critics, noise on the command that comes next,
a policy that learns more slowly). There is no slow copy of the policy, as in FastTD3's own code; for what else departs see
off_policy.py.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from gapless.nets.policy import NetworkPolicy

from .learning import Place
from .off_policy import Choice, OffPolicy, OffPolicyRule
from .squash import before_tanh


@dataclass(frozen=True)
class FastTd3(OffPolicy):
    """FastTD3."""

    word: ClassVar[str] = "fast-td3"

    noise: tuple[float, float] = (0.05, 0.6)
    """Deviation of exploration in the calmest and in the boldest world, as a share of half the command range."""
    smoothing: float = 0.1
    """Deviation of the command that critics expect to come next; cut off at twice as much."""

    def rule(self, place: Place, begin_with: NetworkPolicy | None) -> OffPolicyRule:
        return FastTd3Rule(self, place, begin_with)


class FastTd3Rule(OffPolicyRule):
    """Noise that is not learnt, and no bonus for it."""

    recipe: FastTd3

    def beside(self, key: PRNGKeyArray) -> Any:
        return ()

    def explored(self, policy: NetworkPolicy, beside: Any, seen: Any, key: PRNGKeyArray) -> Any:
        unit = jnp.tanh(before_tanh(policy, seen))
        bold = jnp.linspace(*self.recipe.noise, len(unit))[:, None]
        return unit + bold * jax.random.normal(key, unit.shape)

    def foreseen(self, policy: NetworkPolicy, beside: Any, seen: Any, key: PRNGKeyArray) -> Choice:
        meant = self.intended(policy, beside, seen, key)
        noise = self.recipe.smoothing * jnp.clip(jax.random.normal(key, meant.unit.shape), -2, 2)
        return meant._replace(unit=jnp.clip(meant.unit + noise, -1, 1))

    def intended(self, policy: NetworkPolicy, beside: Any, seen: Any, key: PRNGKeyArray) -> Choice:
        return Choice(jnp.tanh(before_tanh(policy, seen)), jnp.zeros(len(seen)))

    def settled(self, beside: Any, bonus: Any) -> Any:
        return beside
