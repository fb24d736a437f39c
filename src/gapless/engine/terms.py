"""The return by the reward's terms: what each was forecast to bring, to be held against what it brought on the robot."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from gapless.core import Log, Task


def shares_of(task: Task, logs: Sequence[Log]) -> dict[str, Float[np.ndarray, " log"]]:
    """Each term's sum over every episode. All are padded to one length, so that nothing is compiled for each of them."""
    rows = max((len(log) for log in logs), default=0)
    if rows < 2:
        return {}
    measured = [{k: _padded(v, rows) for k, v in log.measurements.items()} for log in logs]
    sent = {k: np.stack([_padded(log.commands[k], rows)[:-1] for log in logs]) for k in logs[0].commands}
    before, after = (
        {k: np.stack([m[k][part] for m in measured]) for k in measured[0]} for part in (slice(-1), slice(1, None))
    )
    counted = np.arange(rows - 1) < np.array([len(log) - 1 for log in logs])[:, None]
    period_s = logs[0].interface.period_s
    terms = task.terms(before, sent, after)
    return {name: np.where(counted, np.asarray(values), 0.0).sum(axis=1) * period_s for name, values in terms.items()}


def term_figures(task: Task, logs: Sequence[Log], each: int, share: float) -> list[dict[str, Any]]:
    """Mean and interval of each term, over draws of `each` episodes."""
    tails = (1 - share) / 2, (1 + share) / 2
    found = []
    for name, values in shares_of(task, logs).items():
        means = values.reshape(-1, each).mean(axis=1)
        low, high = np.quantile(means, tails)
        found.append({"name": name, "mean": float(means.mean()), "low": float(low), "high": float(high)})
    return found


def _padded(values: Float[np.ndarray, "row width"], rows: int) -> Float[np.ndarray, "row width"]:
    values = values[:rows]
    return np.concatenate([values, np.repeat(values[-1:], rows - len(values), axis=0)])
