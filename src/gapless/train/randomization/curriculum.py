"""What to practise next: difficulties that are passed about half of the time, whatever makes things difficult.

Follows the proximal curriculum (Tzannetos et al. 2023), which draws with the weight p (1 − p) of what is passed with probability
p, as Florensa et al. 2018 keep goals of intermediate difficulty. Difficulty is one number between 0 and 1, in bins: how far a
start, a goal or a push is on the way from the easiest to the task's own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError


@dataclass(frozen=True)
class Curriculum:
    """How often each difficulty is passed. Nothing in it changes: `told` returns the next."""

    passed: tuple[float, ...] = (0.5,) * 10
    """Estimated share that passes, by bin from easy to hard; half where nothing is known yet."""
    memory: float = 0.9
    """How much of an estimate stays when an episode of its bin comes in."""
    anywhere: float = 0.1
    """Share of episodes that are drawn from all bins alike, so that none is forgotten."""

    def __post_init__(self) -> None:
        inside = all(0 <= p <= 1 for p in self.passed)
        if not self.passed or not inside or not 0 <= self.memory < 1 or not 0 < self.anywhere <= 1:
            raise GaplessError("a curriculum needs bins, shares within 0 and 1, and anywhere above 0.")

    @property
    def weights(self) -> Float[np.ndarray, " bin"]:
        """The probability with which each bin is drawn from."""
        bins, rates = len(self.passed), np.asarray(self.passed)
        near = rates * (1 - rates)
        total = near.sum()
        near = near / total if total > 0 else np.full(bins, 1 / bins)
        return self.anywhere / bins + (1 - self.anywhere) * near

    @property
    def way(self) -> float:
        """How much of the way from the easiest to the hardest is passed, on average."""
        return float(np.mean(self.passed))

    def told(self, difficulties: Sequence[float], passed: Sequence[bool]) -> "Curriculum":
        """The curriculum after episodes of these difficulties."""
        rates = list(self.passed)
        for difficulty, outcome in zip(difficulties, passed, strict=True):
            k = min(int(float(difficulty) * len(rates)), len(rates) - 1)
            rates[k] = self.memory * rates[k] + (1 - self.memory) * float(outcome)
        return replace(self, passed=tuple(rates))


def draw(weights: Float[Array, " bin"], key: PRNGKeyArray, n: int) -> Float[Array, " n"]:
    """n difficulties between 0 and 1, from bins of these weights; weights are an argument, so that nothing is compiled anew."""
    keys = jax.random.split(key)
    chosen = jax.random.choice(keys[0], len(weights), (n,), p=weights)
    return (chosen + jax.random.uniform(keys[1], (n,))) / len(weights)


def graded(easy: Mapping[str, Any], own: Mapping[str, Any], difficulty: Float[Array, " n"]) -> dict[str, Any]:
    """Starts, goals or parameters that far on the way from easy ones to their own; those not named are zero there."""
    names = sorted({*easy, *own})
    shape = {name: np.shape(own.get(name, easy.get(name))) for name in names}
    share = {name: difficulty[:, None] if len(shape[name]) == 2 else difficulty for name in names}
    return {
        name: (1 - share[name]) * jnp.asarray(easy.get(name, 0.0)) + share[name] * jnp.asarray(own.get(name, 0.0))
        for name in names
    }
