"""What the logs cannot tell: parameters that stay where the prior has them, alone or in combinations that leave no trace."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

LITTLE = 1.0
"""Information about a direction, in units of the prior's, below which the logs say less than was known before."""
SIZEABLE = 0.3
"""Weight of a parameter in a direction from which on it is named."""
ALONE = 0.9
"""Share of a parameter's own direction that leaves no trace from which on nothing is told about it."""


@dataclass(frozen=True)
class Untold:
    """Parameters and combinations about which the logs say less than the prior."""

    parameters: tuple[str, ...]
    combinations: tuple[tuple[tuple[str, float], ...], ...]
    """Each with the weights, in deviations of the prior, by which its parameters can move together unseen."""

    def sentence(self) -> str:
        """In words; empty where the logs tell everything."""
        alone = ", ".join(self.parameters)
        said = [f"the logs do not tell {alone}, which stay near their nominal values"] if alone else []
        said += [
            f"{' and '.join(n for n, _ in c)} can only be told together (they may move by "
            f"{' : '.join(f'{w:+.2g}' for _, w in c)} unseen)"
            for c in self.combinations
        ]
        return "; ".join(said)


def untold(
    names: tuple[str, ...], information: Float[np.ndarray, "param param"], deviation: Float[np.ndarray, " param"]
) -> Untold:
    """From the information about the parameters, prior included, and the prior's deviations."""
    relative = information * np.outer(deviation, deviation)
    values, axes = np.linalg.eigh((relative + relative.T) / 2)
    silent = axes[:, values < 1 + LITTLE]
    alone = (silent**2).sum(axis=1) > ALONE
    parameters, together = [n for n, is_alone in zip(names, alone, strict=True) if is_alone], []
    for direction in _sparse(np.where(alone[:, None], 0.0, silent), silent.shape[1] - int(alone.sum())):
        taking = np.flatnonzero(np.abs(direction) > SIZEABLE)
        if len(taking) == 1:
            parameters.append(names[taking[0]])
        elif len(taking) > 1:
            first = direction[taking[0]]
            together.append(tuple((names[k], float(direction[k] / first)) for k in taking))
    return Untold(tuple(parameters), tuple(together))


def _sparse(space: Float[np.ndarray, "param direction"], count: int) -> Float[np.ndarray, "direction param"]:
    """Unit vectors that span the largest `count` directions of a space, each with a parameter that no other one has.

    Directions that leave no trace are as good as any mixture of them; these can be read.
    """
    if count < 1:
        return np.empty((0, len(space)))
    rows = np.linalg.svd(space)[0][:, :count].T.copy()
    for k in range(count):
        own, others = int(np.argmax(np.abs(rows[k]))), np.arange(count) != k
        rows[k] /= rows[k, own]
        rows[others] -= np.outer(rows[others, own], rows[k])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
