"""What a candidate is worth: the task's own reward over the horizon, and what may come after it."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import Signals, Task

Value = Callable[[Signals], Float[Array, " world"]]
"""Measurements at the end of the horizon → the return that is still to come."""


def horizon_returns(
    task: Task, measured: Signals, commands: Signals, period_s: float, linger_s: float, value: Value | None = None
) -> Float[Array, " world"]:
    """Returns of worlds from measurements (period + 1, world, width) and commands (period, world, width).

    Nothing counts after the task is finished. The last reward is taken to go on for `linger_s`, which stands for what the
    horizon does not see.
    """
    before, after = ({k: v[part] for k, v in measured.items()} for part in (slice(None, -1), slice(1, None)))
    reward, ended = task.reward(before, commands, after), task.finished(after)
    over = jnp.cumsum(ended, axis=0) - ended > 0
    alive = ~ended.any(axis=0)
    total = jnp.where(over, 0.0, reward).sum(0) * period_s + jnp.where(alive, reward[-1], 0.0) * linger_s
    if value is not None:
        total = total + jnp.where(alive, value({k: v[-1] for k, v in after.items()}), 0.0)
    return total


def over_draws(returns: Float[Array, " world"], draws: int, caution: float) -> Float[Array, " sample"]:
    """One return per candidate: the mean over its draws, less `caution` deviations; a world that broke counts as the worst."""
    finite = jnp.isfinite(returns)
    worst = jnp.min(jnp.where(finite, returns, jnp.inf))
    each = jnp.where(finite, returns, worst).reshape(-1, draws)
    return each.mean(1) - caution * each.std(1)
