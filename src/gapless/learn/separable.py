"""Which families logs tell apart, and which look alike."""

import numpy as np
from jaxtyping import Float

UNKNOWN = 10.0
"""Information about a direction, in units of the prior's, below which logs say little about it."""
VISIBLE = 200.0
"""Information from which on logs say a lot."""
SIZEABLE = 0.1
"""Share of a direction that a family must hold to be a part of it."""


def classes(families: tuple[str, ...], information: Float[np.ndarray, "param param"]) -> tuple[tuple[str, ...], ...]:
    """Families, those that no log separates together.

    `information` is the data's, in units of the prior's. Families are one class when a combination of their parameters
    leaves no trace in the logs although each one's part of it alone would.
    """
    groups = [{f} for f in dict.fromkeys(families)]
    values, axes = np.linalg.eigh((information + information.T) / 2)
    for axis in axes.T[values < UNKNOWN]:
        alike = {f for f in dict.fromkeys(families) if _takes_part(axis, np.array(families) == f, information)}
        if len(alike) > 1:
            joined = [g for g in groups if g & alike]
            groups = [g for g in groups if not g & alike] + [set().union(*joined)]
    order = list(dict.fromkeys(families))
    return tuple(sorted((tuple(sorted(g, key=order.index)) for g in groups), key=lambda g: order.index(g[0])))


def _takes_part(axis: np.ndarray, mine: np.ndarray, information: np.ndarray) -> bool:
    part = np.where(mine, axis, 0.0)
    share = float(part @ part)
    return share > SIZEABLE and float(part @ information @ part) > VISIBLE * share
