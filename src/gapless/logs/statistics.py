"""The statistics that LeRobot's policies normalise with, per feature, over finite values only."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}


def statistics(columns: Mapping[str, np.ndarray]) -> dict[str, dict[str, list[Any]]]:
    """Feature → statistic → one number per axis, and `count`."""
    return {name: _of_column(np.asarray(values, np.float64)) for name, values in columns.items()}


def _of_column(values: Float[np.ndarray, "row width"]) -> dict[str, list[Any]]:
    per_axis = [_of_axis(axis[np.isfinite(axis)]) for axis in values.T]
    return {name: [axis[name] for axis in per_axis] for name in per_axis[0]} | {"count": [len(values)]}


def _of_axis(finite: Float[np.ndarray, " row"]) -> dict[str, float]:
    names = ("min", "max", "mean", "std", *QUANTILES)
    if not len(finite):
        return dict.fromkeys(names, 0.0)
    with np.errstate(all="ignore"):  # values near the largest float64 overflow in sums, and may
        quantiles = np.quantile(finite, list(QUANTILES.values()))
        found = [finite.min(), finite.max(), finite.mean(), finite.std(), *quantiles]
    return dict(zip(names, np.nan_to_num(found).tolist(), strict=True))
