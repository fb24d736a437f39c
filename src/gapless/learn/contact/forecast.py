"""Forecast throws of any length from their first states: the one likely path, a cloud, and the path that stands for it."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray

from .scores import Off, central, energy, off
from .thrower import Thrower
from .tosses import Tosses

LONG = 128
"""Few throws have more samples than this; they are simulated apart, so that the others need not wait for them."""


class Scored(NamedTuple):
    """Errors of each throw."""

    path: Off
    """The throw without chance."""
    central: Off
    """The path in the middle of the cloud."""
    cloud: Off
    """The cloud's energy score."""


def score(model: Thrower, tosses: Tosses, most: tuple[int, ...], draws: int, key: PRNGKeyArray) -> list[Scored]:
    """How far forecasts are off over at most so many samples, for each of these numbers; all see the first state alone."""
    lengths = np.asarray(tosses.length)
    groups = [rows for rows in (np.flatnonzero(lengths <= LONG), np.flatnonzero(lengths > LONG)) if len(rows)]
    found = []
    for rows in groups:
        mine = tosses.some(rows)
        found.append(_score(model, mine.first(int(mine.length.max())), jnp.asarray(most), draws, key))
    order = np.argsort(np.concatenate(groups))
    whole = jax.tree.map(lambda *parts: jnp.concatenate(parts, axis=1)[:, order], *found)
    return [jax.tree.map(lambda x, k=k: x[k], whole) for k in range(len(most))]


@eqx.filter_jit
def _score(model: Thrower, tosses: Tosses, most: Int[Array, " horizon"], draws: int, key: PRNGKeyArray) -> Scored:
    path = model.path(tosses.start, tosses.samples)
    cloud = model.cloud(tosses.start, tosses.samples, draws, key)
    middle = central(cloud)

    def over(most: Int[Array, ""]) -> Scored:
        truth = tosses.seen, jnp.minimum(tosses.length, most)
        return Scored(off(path, *truth), off(middle, *truth), energy(cloud, *truth))

    return jax.lax.map(over, most)
