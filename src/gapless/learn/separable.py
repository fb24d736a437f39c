"""What logs can tell apart: the fewest parameters that need to differ from the data sheet, and families that look alike."""

import numpy as np
from jaxtyping import Bool, Float

SIGNIFICANT = 12.0
"""Squared deviations by which a parameter must miss its nominal value, the others free to make up for it."""
UNKNOWN = 10.0
"""Information about a direction, in units of the prior's, below which logs say little about it."""
VISIBLE = 200.0
"""Information from which on logs say a lot."""
SIZEABLE = 0.1
"""Share of a direction that a family must hold to be a part of it."""


def departures(
    params: Float[np.ndarray, " param"],
    nominal: Float[np.ndarray, " param"],
    precision: Float[np.ndarray, "param param"],
) -> tuple[Bool[np.ndarray, " param"], Float[np.ndarray, " param"]]:
    """Which parameters need to depart from nominal, and all of them with the others back there.

    Backward elimination: again and again the parameter that logs would miss least goes back, and the rest makes up for it.
    """
    kept, values = np.ones(len(params), bool), params.copy()
    while kept.any():
        index = np.flatnonzero(kept)
        covariance = np.linalg.inv(precision[np.ix_(index, index)])
        off = values[index] - nominal[index]
        missed = off**2 / np.diag(covariance)
        least = int(np.argmin(missed))
        if missed[least] > SIGNIFICANT:
            break
        values[index] -= covariance[:, least] / covariance[least, least] * off[least]
        kept[index[least]] = False
        values[index[least]] = nominal[index[least]]
    return kept, values


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
