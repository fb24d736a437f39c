"""Judge throwers by throws that they were not taught: each throw is held out once, however few there are."""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gapless.core import GaplessError

from .scores import Off, energy, off
from .thrower import Thrower
from .tosses import Tosses

Rows = Int[np.ndarray, " row"]
FEWEST = 4
"""Throws without which nothing can be held out."""
DRAWS, SAMPLES = 4, 112
"""Samples of a cloud that is judged, and how much of a throw judges: nine in ten end before that."""
TOGETHER = 16
"""Throws are judged in multiples of this, so that few programs serve all numbers of them."""


class Missed(NamedTuple):
    """Errors of each throw."""

    path: Off
    """The throw without chance."""
    cloud: Off
    """The cloud's energy score."""


def parted(count: int, folds: int, seed: int) -> list[Rows]:
    """Rows of each fold: every throw is in one of them, and their sizes differ by one at most."""
    if count < FEWEST:
        raise GaplessError(f"{count} throws are too few to learn from; at least {FEWEST} are needed. Record more.")
    order = np.random.default_rng(seed).permutation(count)
    return [np.sort(rows) for rows in np.array_split(order, min(folds, count))]


def missed(throwers: Thrower, tosses: Tosses, folds: Sequence[Rows], key: PRNGKeyArray) -> Missed:
    """How far each throw is off for the thrower at the place of its fold; throwers behind the last fold are not asked."""
    size = TOGETHER * -(-max(map(len, folds)) // TOGETHER)
    rows = np.stack([np.resize(fold, size) for fold in folds])
    asked = jax.tree.map(lambda x: x[: len(folds)] if eqx.is_inexact_array(x) else x, throwers)
    found = _missed(asked, tosses.first(SAMPLES).some(rows), key)
    order = np.argsort(np.concatenate(folds))

    def in_order(errors: Float[Array, "fold row"]) -> Float[Array, " toss"]:
        return jnp.concatenate([mine[: len(fold)] for mine, fold in zip(errors, folds, strict=True)])[order]

    return jax.tree.map(in_order, found)


@eqx.filter_jit
def _missed(throwers: Thrower, tosses: Tosses, key: PRNGKeyArray) -> Missed:
    def of_one(model: Thrower, tosses: Tosses) -> Missed:
        path = model.path(tosses.start, tosses.samples)
        cloud = model.cloud(tosses.start, tosses.samples, DRAWS, key)
        truth = tosses.seen, tosses.length
        return Missed(off(path, *truth), energy(cloud, *truth))

    return eqx.filter_vmap(of_one)(throwers, tosses)
