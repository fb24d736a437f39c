"""A plan: knots of commands in units of half the command range, and how far candidates may stray from it."""

from typing import NamedTuple, Protocol

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

Candidates = Float[Array, "sample knot command"]


class Plan(NamedTuple):
    """What is carried from one control period to the next."""

    mean: Float[Array, "knot command"]
    """Around which candidates are drawn."""
    deviation: Float[Array, "knot command"]
    """How far they stray."""
    best: Float[Array, "knot command"]
    """Of which the first command is sent."""
    kept: Float[Array, "elite knot command"]
    """Candidates that are tried again."""


class Method(Protocol):
    """How candidates are drawn and what is made of their returns."""

    @property
    def iterations(self) -> int:
        """Rounds per control period."""
        ...

    def begin(self, knots: int, width: int) -> Plan:
        """The plan before anything is known."""
        ...

    def propose(self, plan: Plan, samples: int, key: PRNGKeyArray) -> Candidates:
        """Candidates within ±1."""
        ...

    def refit(self, plan: Plan, candidates: Candidates, returns: Float[Array, " sample"]) -> Plan:
        """The plan after the candidates were tried."""
        ...


def advanced(plan: Plan, fresh: Plan, later: Float[np.ndarray, "knot knot"]) -> Plan:
    """The plan one control period later, straying as widely as a fresh one."""
    mean, best, kept = (jnp.einsum("jk,...kc->...jc", later, x) for x in (plan.mean, plan.best, plan.kept))
    return Plan(mean, fresh.deviation, best, kept)
