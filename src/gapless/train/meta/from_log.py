"""An episode on the robot as the transitions that an inner loop learns from."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Log, Task
from gapless.nets.seeing import SeeingPolicy, command_scale

from .trials import Rows


def rows_of(policy: SeeingPolicy, log: Log, steps: int, task: Task | None = None) -> Rows:
    """Transitions as (step, …), filled up to `steps`; rewards are the task's, or without one nothing.

    Rows where a reading was missing count as not alive.
    """
    count = min(max(len(log) - 1, 0), steps)
    measured = {k: _filled(log.measurements[k], steps + 1) for k in policy.interface.measurement_names}
    sent = np.concatenate([_filled(log.commands[k], steps + 1) for k in policy.interface.command_names], axis=-1)
    middle, half = command_scale(policy.interface)
    known = np.isfinite(sent).all(-1) & np.all([np.isfinite(v).all(-1) for v in measured.values()], axis=0)
    unit = np.nan_to_num((sent - middle) / half)
    seen = np.asarray(_observed(policy, {k: np.nan_to_num(v) for k, v in measured.items()}, unit))
    reward = np.zeros(steps)
    if task is not None:
        paid = task.rewards(log)[:count] * log.interface.period_s
        reward[: len(paid)] = np.nan_to_num(paid)
    alive = (np.arange(steps) < count) & known[:-1] & known[1:]
    found = seen[:-1], np.clip(unit[:-1], -1, 1), seen[1:], reward, alive
    return Rows(*(jnp.asarray(x, bool if x.dtype == bool else jnp.float32) for x in found))


def stacked(episodes: list[Rows]) -> Rows:
    """Episodes of one world side by side."""
    return Rows(*(jnp.stack(x) for x in zip(*episodes, strict=True)))


def _filled(values: np.ndarray, rows: int) -> np.ndarray:
    """The first rows, the last one repeated where there are too few."""
    if not len(values):
        return np.zeros((rows, values.shape[1]))
    return values[np.minimum(np.arange(rows), len(values) - 1)]


@eqx.filter_jit
def _observed(policy: SeeingPolicy, measured: dict[str, np.ndarray], unit: np.ndarray) -> Any:
    """What the policy observed, given what was measured and sent."""

    def one(memory: Any, row: Any) -> Any:
        memory, observation = policy.see(memory, row[0])
        return policy.send(memory, row[1])[0], observation

    rows = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), (measured, unit))
    return jax.lax.scan(one, policy.init(jax.random.key(0)), rows)[1]
