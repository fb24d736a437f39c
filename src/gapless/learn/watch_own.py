"""Looks that are bent towards one robot by its own healthy episodes, and what is off in each of them for looks that never saw it.

A belief is wider than a robot: looks fitted to all that it allows expect the middle of them. What one robot adds to that is
found by a ridge regression on what a look reads and on its last hidden layer, so that it can be written back into the look's own
weights; its strength, and what is off, come from episodes that were left out, one after the other.
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

STRENGTHS = (0.3, 3.0, 30.0, 300.0, 3000.0, 30000.0)
"""Of the ridge, in rows of a typical deviation: the largest leaves a look nearly as it is."""
SUREST = 0.05
"""Share of rows, the ones that a look is surest of, that weigh no more than the next."""

Rows = list[Float[np.ndarray, "row number"]]
"""One table per episode."""


class Bent(NamedTuple):
    """A look after the robot's own episodes."""

    look: Look
    off: Rows
    """What is off in each episode, in deviations, for a look that was bent by the others."""


def bend(look: Look, features: Rows, came: Rows) -> Bent:
    """The look that expects of this robot what it did; `came` are its changes, in the measurements' units."""
    read = [_read(look, rows) for rows in features]
    basis = [np.concatenate([r[0], r[1], np.ones((len(r[0]), 1))], axis=1) for r in read]
    missed = [v / np.asarray(look.size) - r[2] for v, r in zip(came, read, strict=True)]
    deviation = [np.exp(r[3]) for r in read]
    least = np.quantile(np.concatenate(deviation), SUREST, axis=0)
    sure = [1 / np.maximum(d, least) ** 2 for d in deviation]
    found = [
        _ridge(basis, [m[:, c] for m in missed], [s[:, c] for s in sure], [d[:, c] for d in deviation])
        for c in range(len(look.size))
    ]
    off = [np.stack([each[1][e] for each in found], axis=1) for e in range(len(features))]
    return Bent(_written(look, np.stack([each[0] for each in found])), off)


def spread(off: Rows) -> Float[np.ndarray, " number"]:
    """Root mean square of what is off; what runs away counts no more than the largest that a watch adds up."""
    return np.sqrt(np.mean(np.clip(np.concatenate(off), -RUNAWAY, RUNAWAY) ** 2, axis=0))


def _ridge(
    basis: Rows, missed: list[np.ndarray], sure: list[np.ndarray], deviation: list[np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Weights from all episodes with the strength that predicts left-out ones best, and what was off in these."""
    squares = [(b * s[:, None]).T @ b for b, s in zip(basis, sure, strict=True)]
    sides = [(b * s[:, None]).T @ m for b, s, m in zip(basis, sure, missed, strict=True)]
    whole, side, eye = sum(squares), sum(sides), np.eye(basis[0].shape[1])

    def left_out(strength: float) -> list[np.ndarray]:
        others = [np.linalg.solve(whole - a + strength * eye, side - b) for a, b in zip(squares, sides, strict=True)]
        return [(m - b @ w) / d for m, b, w, d in zip(missed, basis, others, deviation, strict=True)]

    tried = {strength: left_out(strength) for strength in STRENGTHS}
    best = min(tried, key=lambda strength: float(spread([v[:, None] for v in tried[strength]])[0]))
    return np.linalg.solve(whole + best * eye, side), tried[best]


@eqx.filter_jit
def _network(look: Look, rows: Float[Array, "row feature"]) -> Any:
    normal = jnp.clip((rows - look.shift) * look.scale, -10, 10)

    def hidden(x: Array) -> Array:
        for layer in look.bent.layers[:-1]:
            x = jnp.tanh(layer(x))
        return x

    return normal, jax.vmap(hidden)(normal), *jax.vmap(look)(rows)


def _read(look: Look, rows: np.ndarray) -> list[np.ndarray]:
    """What a look reads, its last hidden layer, what it expects and the logarithm of its deviation, row by row."""
    return [np.asarray(v, np.float64) for v in _network(look, jnp.asarray(rows))]


def _written(look: Look, weights: Float[np.ndarray, "width basis"]) -> Look:
    """The look with these weights added to its own."""
    read, width = len(look.shift), len(look.size)
    straight, last = look.straight, look.bent.layers[-1]
    assert straight.bias is not None
    added = jnp.zeros_like(last.weight).at[:width].set(jnp.asarray(weights[:, read:-1], jnp.float32))
    linear = eqx.tree_at(
        lambda s: (s.weight, s.bias),
        straight,
        (
            straight.weight + jnp.asarray(weights[:, :read], jnp.float32),
            straight.bias + jnp.asarray(weights[:, -1], jnp.float32),
        ),
    )
    bent = eqx.tree_at(lambda b: b.layers[-1].weight, look.bent, last.weight + added)
    return replace(look, straight=linear, bent=bent)
