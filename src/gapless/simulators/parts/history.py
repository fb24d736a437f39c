"""The recent past of a few quantities, asked for in seconds: the same answer at any time step."""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gapless.core import GaplessError

Memory = dict[str, Array]


class History(eqx.Module):
    """Remembers what it is shown about every `spacing_s`, and interpolates between."""

    lags_s: tuple[float, ...] = eqx.field(static=True)
    """How far back it is asked, in seconds; 0 is now."""
    channels: int = eqx.field(static=True)
    spacing_s: float = eqx.field(static=True)

    def __check_init__(self) -> None:
        if not self.lags_s or min(self.lags_s) < 0 or self.spacing_s <= 0 or self.channels < 1:
            raise GaplessError("a history needs lags from 0 s on, a spacing above 0 s and at least one channel.")

    @property
    def slots(self) -> int:
        return math.ceil(max(self.lags_s) / self.spacing_s - 1e-9) + 1

    def init(self) -> Memory:
        """Nothing yet; the first value shown fills the whole past."""
        return {
            "age": jnp.arange(1, self.slots + 1) * self.spacing_s,
            "value": jnp.zeros((self.slots, self.channels)),
            "begun": jnp.zeros(()),
        }

    def step(
        self, memory: Memory, now: Float[Array, "*many channel"], dt_s: float
    ) -> tuple[Memory, Float[Array, "*many lag channel"]]:
        """The past at the lags, and the memory `dt_s` later."""
        past = jnp.stack([self.at(memory, now, lag) for lag in self.lags_s], axis=-2)
        return self.shown(memory, now, dt_s), past

    def at(self, memory: Memory, now: Float[Array, "*many channel"], lag_s: Array | float) -> Array:
        """The values `lag_s` ago, which may differ from one to the next; before everything remembered, the oldest."""
        ages, values = _points(memory, now)
        young, old = ages[..., :-1], ages[..., 1:]
        share = jnp.clip((jnp.asarray(lag_s)[..., None] - young) / (old - young), 0, 1)
        return values[..., 0, :] + jnp.sum(share[..., None] * jnp.diff(values, axis=-2), axis=-2)

    def shown(self, memory: Memory, now: Float[Array, "*many channel"], dt_s: float) -> Memory:
        """The memory `dt_s` later; `now` is kept if the newest one kept is old enough."""
        ages, values = _points(memory, now)
        due = memory["age"][..., :1] >= self.spacing_s - 1e-6
        age = jnp.where(due, ages[..., :-1], ages[..., 1:]) + dt_s
        value = jnp.where(due[..., None], values[..., :-1, :], values[..., 1:, :])
        return {"age": age, "value": value, "begun": jnp.ones_like(memory["begun"])}


def _points(memory: Memory, now: Float[Array, "*many channel"]) -> tuple[Array, Array]:
    """Ages and values, the newest first; before the first value there was nothing else."""
    begun = memory["begun"][..., None, None] > 0
    value = jnp.where(begun, memory["value"], now[..., None, :])
    ages = jnp.concatenate([jnp.zeros_like(memory["age"][..., :1]), memory["age"]], axis=-1)
    return ages, jnp.concatenate([now[..., None, :], value], axis=-2)


def spread(memory: Any, shape: tuple[int, ...]) -> Any:
    """A block's first memory for many windows and joints at once."""
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (*shape, *jnp.shape(x))), memory)
