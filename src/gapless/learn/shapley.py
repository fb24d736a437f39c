"""Shapley's fair split: what each player adds, averaged over all orders in which they could come."""

from math import factorial

import numpy as np
from jaxtyping import Bool, Float


def coalitions(players: int) -> Bool[np.ndarray, "coalition player"]:
    """Every set of players, the empty one first and all of them last."""
    return (np.arange(2**players)[:, None] >> np.arange(players)) % 2 == 1


def shapley(values: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Each player's part, along the first axis; the parts add up to what all have together beyond what nobody has."""
    players = (len(values) - 1).bit_length()
    sets, number = coalitions(players), np.arange(len(values))
    size = sets.sum(axis=1)
    parts = []
    for player in range(players):
        without = number[~sets[:, player]]
        weight = np.array([factorial(s) * factorial(players - s - 1) / factorial(players) for s in size[without]])
        parts.append(np.tensordot(weight, values[without + 2**player] - values[without], axes=1))
    return np.array(parts).reshape(players, *values.shape[1:])
