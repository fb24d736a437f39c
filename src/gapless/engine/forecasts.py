"""Forecasts that keep their own score: how wide the next one must be, and whether the policy may go to the robot at all."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from scipy.stats import norm

from gapless.core import Artifact, Block, GaplessError, Interface, Params, Signals, Store
from gapless.robots.limits import rest_of

SLACK = 0.002
"""Narrowest interval, as a share of the mean to either side: a robot is never exactly its simulator."""
ABOVE = 2.0
"""How far above the mean an interval may go, in units of what the best draw earns above it."""


class Still(Block):
    """A policy that does nothing: what any other has to beat."""

    interface: Interface = eqx.field(static=True)

    def init(self, key: PRNGKeyArray) -> Array:
        return jnp.zeros(())

    def step(
        self, params: Params, memory: Array, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[Array, Signals]:
        return memory, {c.name: jnp.asarray(rest_of(c)) for c in self.interface.commands}


@dataclass(frozen=True)
class Score:
    """How earlier forecasts went."""

    hits: int
    of: int
    widen: float
    """What the simulated spread must be multiplied with to have been right about its misses."""


def score(store: Store, before_crank: int | None = None) -> Score:
    """The score of a workspace's forecasts, of those before a crank if one is named."""
    told = [a.figures for a in store.all("outcome") if before_crank is None or a.recipe["crank"] < before_crank]
    misses = [f["miss"] for f in told if f.get("miss") is not None]
    # One imagined forecast that went as it should keeps a single miss or hit from ruling.
    widen = float(np.sqrt((1 + sum(m**2 for m in misses)) / (1 + len(misses))))
    return Score(sum(bool(f["inside"]) for f in told), len(told), float(np.clip(widen, 0.7, 20.0)))


def interval(means: Float[np.ndarray, " draw"], share: float, widen: float, still: float) -> dict[str, Any]:
    """Low, mean and high of the interval that holds `share` of the outcomes, and the deviation behind it.

    However often it missed before, it goes no lower than the worst draw and than a robot that rests, and no more than twice as
    far above the mean as the best draw: what a simulator leaves out seldom helps.
    """
    mean = float(means.mean())
    low, high = (float(q) for q in np.quantile(means, [(1 - share) / 2, (1 + share) / 2]))
    slack = SLACK * abs(mean)
    # A few draws that fail pull the mean towards, or beyond, the quantile on their side.
    least = max((high - low) / 2, slack)
    low, high = mean - widen * max(mean - low, least), mean + widen * max(high - mean, least)
    deviation = (high - low) / (2 * norm.ppf((1 + share) / 2)) / widen
    lowest = min(float(means.min()), still, mean - slack)
    highest = mean + ABOVE * max(float(means.max()) - mean, slack)
    return {"low": max(low, lowest), "mean": mean, "high": min(high, highest), "deviation": deviation}


def require_promising(forecast: Artifact, least: float | None) -> None:
    """Refuse a policy that is forecast to do worse than a robot that rests, or than the user's own mark."""
    said = forecast.figures
    if least is not None and said["low"] < least:
        reason = f"may fall to {said['low']:.3g}, and the least allowed is {least:.3g}"
    elif said["mean"] <= said["still"]:
        reason = f"has a mean of {said['mean']:.3g}, and a robot that rests is worth {said['still']:.3g}"
    else:
        return
    raise GaplessError(
        f"the policy is not sent to the robot: its forecast {reason}. Collect more, train longer, or add --force."
    )
