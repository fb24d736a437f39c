"""Replay where the simulator lives: the last control periods of every world in a ring of arrays, sampled inside jit."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray


class Rows(NamedTuple):
    """Transitions, with any number of leading axes."""

    known: Float[Array, "*row known"]
    """What a critic is told before the command; the observation comes first."""
    unit: Float[Array, "*row command"]
    reward: Float[Array, "*row"]
    known_next: Float[Array, "*row known"]
    """The same after it, and before any restart."""
    finished: Bool[Array, "*row"]
    """Whether the future has no value. Running out of time is not among it."""
    fresh: Bool[Array, "*row"]
    """Whether an episode begins with this command: the row before it was the last one of another."""


class Replay(NamedTuple):
    """A ring of slots, each with one row of every world."""

    rows: Rows
    head: Int[Array, ""]
    """The slot that is written next."""
    filled: Int[Array, ""]


class Sampled(NamedTuple):
    """Transitions of up to n periods, each cut off where its episode, or what is remembered of it, ends."""

    known: Float[Array, "row known"]
    unit: Float[Array, "row command"]
    gained: Float[Array, " row"]
    """Discounted sum of the rewards on the way."""
    weight: Float[Array, " row"]
    """What the value after it counts: the discount to the power of the periods passed, or nothing after a real end."""
    known_next: Float[Array, "row known"]


def new_replay(slots: int, worlds: int, known: int, command: int) -> Replay:
    """An empty one."""
    flat, no = jnp.zeros((slots, worlds)), jnp.zeros((slots, worlds), bool)
    wide = jnp.zeros((slots, worlds, known))
    rows = Rows(wide, jnp.zeros((slots, worlds, command)), flat, wide, no, no)
    return Replay(rows, jnp.zeros((), int), jnp.zeros((), int))


def inserted(replay: Replay, batch: Rows) -> Replay:
    """With a batch of (step, world, …) in the place of the oldest. The number of slots must be a multiple of its steps."""
    slots, steps = replay.rows.reward.shape[0], batch.reward.shape[0]

    def put(ring: Any, new: Any) -> Any:
        return jax.lax.dynamic_update_slice_in_dim(ring, new.astype(ring.dtype), replay.head, 0)

    rows = jax.tree.map(put, replay.rows, batch)
    return Replay(rows, (replay.head + steps) % slots, jnp.minimum(replay.filled + steps, slots))


def sampled(replay: Replay, count: int, ahead: int, discount: float, key: PRNGKeyArray) -> Sampled:
    """`count` transitions of up to `ahead` periods, all that is remembered being equally likely to begin one."""
    keys = jax.random.split(key)
    world = jax.random.randint(keys[0], (count,), 0, replay.rows.reward.shape[1])
    age = jax.random.randint(keys[1], (count,), 1, replay.filled + 1)
    return followed(replay, age, world, ahead, discount)


def followed(
    replay: Replay, age: Int[Array, " row"], world: Int[Array, " row"], ahead: int, discount: float
) -> Sampled:
    """The transitions that begin so many periods ago (the newest: 1) in these worlds."""
    rows, slots = replay.rows, replay.rows.reward.shape[0]
    later = jnp.arange(ahead)[:, None]
    slot = (replay.head - age + later) % slots
    goes_on = (later < age) & ~(rows.fresh[slot, world] & (later > 0))
    counted = jnp.cumprod(goes_on, axis=0)
    gained = (counted * discount**later * rows.reward[slot, world]).sum(0)
    passed = counted.sum(0)
    first, last = slot[0], (slot[0] + passed - 1) % slots
    weight = discount**passed * ~rows.finished[last, world]
    return Sampled(rows.known[first, world], rows.unit[first, world], gained, weight, rows.known_next[last, world])
