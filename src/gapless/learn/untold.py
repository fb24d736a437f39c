"""What the logs cannot tell: parameters that stay where the prior has them, alone or in combinations that leave no trace."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

LITTLE = 1.0
"""Information about a direction, in units of the prior's, below which the logs say less than was known before."""
SIZEABLE = 0.3
"""Weight of a parameter in a direction from which on it is named."""


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
    alone, together = [], []
    for axis in axes.T[values < 1 + LITTLE]:
        taking = np.flatnonzero(np.abs(axis) > SIZEABLE)
        if len(taking) == 1:
            alone.append(names[taking[0]])
        elif len(taking) > 1:
            first = axis[taking[0]]
            together.append(tuple((names[k], float(axis[k] / first)) for k in taking))
    return Untold(tuple(alone), tuple(together))
