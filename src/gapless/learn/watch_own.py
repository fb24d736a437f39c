"""Looks that lean towards one robot by its own healthy episodes, and what is off in each of them for looks that never saw it.

A belief is wider than a robot: looks fitted to all that it allows expect the middle of them. What one robot adds to that is
found by a ridge regression on what a look reads and on its last hidden layer; its strength, what it leaves over, and how far a
motion may be from the robot's own come from episodes that were left out, one after the other.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.nets.watch import Look
from gapless.nets.watch_apart import RUNAWAY
from gapless.nets.watch_lean import Lean

STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
"""Of the ridge, in rows of a typical deviation: the largest leaves a look nearly as it is."""
USUAL = 0.9
"""Share of the rows of left-out episodes that count as like the others."""

Rows = list[Float[np.ndarray, "row number"]]
"""One table per episode."""
Row = list[Float[np.ndarray, " row"]]
"""One column of it."""


class Leaning(NamedTuple):
    """A look after the robot's own episodes."""

    look: Look
    off: Rows
    """What is off in each episode, in deviations, for a look that was taught by the others."""
    left: Float[np.ndarray, " width"]
    """Mean square of what is off in these, as a share of what it was before."""


class Ridge(NamedTuple):
    """A regression of one column, and what it says of left-out episodes."""

    weights: Float[np.ndarray, " basis"]
    doubt: Float[np.ndarray, "basis basis"]
    left_out: Row
    """What it predicts of each episode from the others."""
    doubts: Row
    """Variance of these predictions, up to the size of what is left over."""


def lean(look: Look, features: Rows, came: Rows) -> Leaning:
    """The look that expects of this robot what it did; `came` are its changes, in the measurements' units."""
    read = [_read(look, f, c) for f, c in zip(features, came, strict=True)]
    leans, offs, left = [], [], []
    for column in range(len(look.size)):
        rows = [basis / deviation[:, column, None] for basis, _, deviation in read]
        before = [off[:, column] for _, off, _ in read]
        ridge = _ridge(rows, before)
        usual = float(np.quantile(np.concatenate(ridge.doubts), USUAL))
        near = np.concatenate(ridge.doubts) <= usual
        missed = np.concatenate([b - p for b, p in zip(before, ridge.left_out, strict=True)])
        size = float(spread([missed[near, None]])[0])
        leans.append((ridge.weights, ridge.doubt, usual, size))
        offs.append(_remaining(ridge, before, usual, size))
        left.append(size**2 / max(float(spread([np.concatenate(before)[:, None]])[0]) ** 2, 1e-12))
    arrays = [jnp.asarray(np.array(each), jnp.float32) for each in zip(*leans, strict=True)]
    off = [np.stack([column[e] for column in offs], axis=1) for e in range(len(read))]
    return Leaning(replace(look, lean=Lean(*arrays)), off, np.array(left))


def spread(off: Rows) -> Float[np.ndarray, " number"]:
    """Root mean square of what is off; what runs away counts no more than the largest that a watch adds up."""
    return np.sqrt(np.mean(np.clip(np.concatenate(off), -RUNAWAY, RUNAWAY) ** 2, axis=0))


def _remaining(ridge: Ridge, before: Row, usual: float, size: float) -> Row:
    """What is off in each episode with the correction that the others gave."""
    share = [np.minimum(1.0, usual / np.maximum(d, 1e-12)) for d in ridge.doubts]
    return [
        (b - s * p) / np.sqrt(s * size**2 + (1 - s) * max(1.0, size**2))
        for b, p, s in zip(before, ridge.left_out, share, strict=True)
    ]


def _ridge(rows: Rows, before: Row) -> Ridge:
    """The regression from all episodes with the strength that predicts left-out ones best."""
    squares = [x.T @ x for x in rows]
    sides = [x.T @ y for x, y in zip(rows, before, strict=True)]
    whole, side, eye = sum(squares), sum(sides), np.eye(rows[0].shape[1])

    def tried(strength: float) -> tuple[Row, Row]:
        inverses = [np.linalg.inv(whole - a + strength * eye) for a in squares]
        predicted = [x @ (i @ (side - b)) for x, i, b in zip(rows, inverses, sides, strict=True)]
        return predicted, [strength * np.sum((x @ i) * x, axis=1) for x, i in zip(rows, inverses, strict=True)]

    found = {strength: tried(strength) for strength in STRENGTHS}

    def missed(strength: float) -> float:
        return float(spread([(y - p)[:, None] for y, p in zip(before, found[strength][0], strict=True)])[0])

    best = min(STRENGTHS, key=missed)
    inverse = np.linalg.inv(whole + best * eye)
    return Ridge(inverse @ side, best * inverse, *found[best])


@eqx.filter_jit
def _network(look: Look, features: Float[Array, "row feature"], came: Float[Array, "row width"]) -> Any:
    return (
        jax.vmap(look.basis)(features),
        jax.vmap(look.missed)(features, came),
        jnp.exp(jax.vmap(look)(features)[1]),
    )


def _read(look: Look, features: np.ndarray, came: np.ndarray) -> list[np.ndarray]:
    """What a look may lean on, what is off and its deviations, row by row."""
    return [np.asarray(v, np.float64) for v in _network(look, jnp.asarray(features), jnp.asarray(came))]
