"""Episodes as a watch sees them: what its looks read, what was off, what added up, and readings that stood still."""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.core import Log, stack, unstack
from gapless.nets.watch import Past, Watch

from .watch_recipe import Own, Simulated

ANYWAY = 5.0
"""Repetitions of a reading beyond twice the longest of any healthy episode."""


def columns_of(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """Measurements and commands of a log, a row each period."""
    rows = min(len(log), *(len(v) for v in log.measurements.values()))
    seen = stack({k: v[:rows] for k, v in log.measurements.items()}, log.interface.measurement_names)
    sent = stack({k: v[:rows] for k, v in log.commands.items()}, log.interface.command_names)
    return seen.astype(np.float32), sent.astype(np.float32)


@eqx.filter_jit
def lessons_of(past: Past, ahead: int, seen: Array | np.ndarray, sent: Array | np.ndarray) -> tuple[Array, Array]:
    """What a look would have seen at every period of every episode, and what came of it: (step, world, number)."""
    seen, sent, rows = jnp.asarray(seen), jnp.asarray(sent), ahead + past.frames
    seen = jnp.concatenate([jnp.repeat(seen[:1], rows, axis=0), seen])
    sent = jnp.concatenate([jnp.zeros((rows, *sent.shape[1:])), sent])

    def at(k: Any) -> Any:
        frames = jax.lax.dynamic_slice_in_dim(seen, k + 1, rows)[::-1]
        commands = jax.lax.dynamic_slice_in_dim(sent, k, rows)[::-1]
        features = jax.vmap(lambda y, u: past.features(y, u, ahead), (1, 1))(frames, commands)
        return features, past.change(frames[0], frames[ahead])

    return jax.lax.map(at, jnp.arange(ahead, len(seen) - rows))


@eqx.filter_jit
def _watched(watch: Watch, seen: Array, sent: Array) -> tuple[Array, Array]:
    """What is off and what it has added up to, at every period of episodes, (step, world, …) each."""
    interface = watch.interface

    def one(seen: Array, sent: Array) -> Any:
        def turn(memory: Any, row: Any) -> Any:
            memory = watch.see(memory, unstack(row[0], interface.measurement_widths))
            return watch.send(memory, unstack(row[1], interface.command_widths)), (memory.offs[0], memory.total)

        return jax.lax.scan(turn, watch.begin(), (seen, sent))[1]

    return jax.vmap(one, (1, 1), 1)(seen, sent)


def offs_of(
    watch: Watch, seen: Array | np.ndarray, sent: Array | np.ndarray
) -> Float[np.ndarray, "step episode look width"]:
    """What is off at every period of every episode."""
    return np.asarray(_watched(watch, jnp.asarray(seen), jnp.asarray(sent))[0])


def sums_of(watch: Watch, seen: Array | np.ndarray, sent: Array | np.ndarray) -> Float[np.ndarray, " episode *sum"]:
    """The largest that each sum comes to in each episode, for a watch that is alarmed by nothing."""
    return np.asarray(_watched(watch, jnp.asarray(seen), jnp.asarray(sent))[1]).max(axis=0)


@eqx.filter_jit
def _summed(watch: Watch, off: Float[Array, "step look width"]) -> Float[Array, " step *sum"]:
    def turn(carry: Any, row: Array) -> Any:
        offs = jnp.concatenate([row[None], carry[1][:-1]])
        total = watch.summed(carry[0], offs)
        return (total, offs), total

    begun = watch.begin()
    return jax.lax.scan(turn, (begun.total, begun.offs), off)[1]


def largest(watch: Watch, off: Float[np.ndarray, "step look width"]) -> Float[np.ndarray, "*sum"]:
    """The largest that each sum comes to in an episode in which so much is off."""
    return np.maximum(np.asarray(_summed(watch, jnp.asarray(off, jnp.float32))).max(axis=0), 0.0)


def patience(simulated: Simulated, own: Own) -> Float[Array, " width"]:
    """How often in a row each number may repeat itself bit for bit: more often than in any healthy episode."""
    runs = [longest_runs(np.asarray(simulated[0])), *(longest_runs(seen[:, None]) for seen, _ in own)]
    return jnp.asarray(2 * np.max(runs, axis=0) + ANYWAY, jnp.float32)


def longest_runs(seen: Float[np.ndarray, "step world width"]) -> Float[np.ndarray, " width"]:
    """The longest run of equal readings of each number."""
    run = longest = np.zeros(seen.shape[1:])
    for before, after in itertools.pairwise(seen):
        run = np.where(before == after, run + 1, 0)
        longest = np.maximum(longest, run)
    return longest.max(axis=0)
