"""Forecast throws of any length from their first states: the one likely path, a cloud, and the path that stands for it."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

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


def score(model: Thrower, tosses: Tosses, most: int, draws: int, key: PRNGKeyArray) -> Scored:
    """How far forecasts are off over at most so many samples."""
    lengths = np.asarray(tosses.length)
    groups = [rows for rows in (np.flatnonzero(lengths <= LONG), np.flatnonzero(lengths > LONG)) if len(rows)]
    found = []
    for rows in groups:
        mine = tosses[rows]
        found.append(_score(model, mine.first(min(most, int(mine.length.max()))), draws, key))
    order = np.argsort(np.concatenate(groups))
    return jax.tree.map(lambda *parts: jnp.concatenate(parts)[order], *found)


@eqx.filter_jit
def _score(model: Thrower, tosses: Tosses, draws: int, key: PRNGKeyArray) -> Scored:
    path = model.path(tosses.start, tosses.samples)
    cloud = model.cloud(tosses.start, tosses.samples, draws, key)
    truth = tosses.seen, tosses.length
    return Scored(off(path, *truth), off(central(cloud), *truth), energy(cloud, *truth))
