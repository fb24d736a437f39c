"""A watch for one policy on one robot: fitted to simulated episodes of the belief, its threshold set by healthy ones.

What healthy means is said by episodes that the fit has not seen: simulated ones, drawn anew from the belief, and the robot's own.
Where the robot is further from what is expected than its simulations are, deviations widen by as much.
"""

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Belief, Block, GaplessError, Log, Signals, Simulator, Task, stack
from gapless.nets.fitting import FitNetwork, fit_network
from gapless.nets.stored_watch import new_watch
from gapless.nets.watch import Look, Past, Watch
from gapless.simulators import Rollout
from gapless.simulators.rollout import Episodes

HELD_OUT = 0.2
FEWEST = 0.25
"""Share of simulated episodes that must come to their end."""
FAINT = 1e-3
"""Share of its own variance that is added to what is off, so that whitening divides by nothing that is nearly zero."""
UNSEEN = 2.0
"""How many times higher the threshold is while the robot has not shown itself."""
ANYWAY = 5.0
"""Repetitions of a reading beyond twice the longest of any healthy episode."""


@dataclass(frozen=True)
class LearnWatch:
    """Fit a monitor of a policy."""

    worlds: int = 256
    """Simulated episodes that it is fitted to, and as many again that set its threshold."""
    frames: int = 12
    """Measurements that a look sees: the more, the better it knows the speed."""
    horizons: tuple[int, ...] = (1, 5, 10, 20)
    """Periods ahead. Near ones see what jumps, far ones what creeps."""
    hidden: tuple[int, int] = (64, 2)
    """Width and number of the hidden layers of a look."""
    fit: FitNetwork = field(default_factory=lambda: FitNetwork(rate=2e-3, batch=256, steps=3000))
    """How a look is fitted."""
    slack: float = 3.0
    """Mean square of what is off that is still well; it is 1 in healthy episodes."""
    false_alarms: float = 0.001
    """Share of healthy simulated episodes whose sums may be above the threshold before its margin."""
    margin: float = 1.4
    """The threshold is this many times what the others stay below."""

    def __post_init__(self) -> None:
        if min(self.worlds, self.frames - 1, *self.horizons) < 1 or not 0 < self.false_alarms < 0.1 or self.margin < 1:
            raise GaplessError(
                "a watch needs worlds and horizons of at least 1, frames of 2, 0 < false_alarms < 0.1 and margin ≥ 1."
            )


@dataclass(frozen=True)
class LearntWatch:
    """A watch and what is known of it."""

    watch: Watch
    simulated: Float[np.ndarray, " episode"]
    """The largest sum of each healthy simulated episode, as a share of the threshold."""
    real: Float[np.ndarray, " episode"]
    """The same of each of the robot's own."""
    widened: float
    """How much further from what is expected the robot is than its simulations; 1 where it is not."""


@dataclass(frozen=True)
class Healthy:
    """Where healthy episodes come from."""

    simulator: Simulator
    belief: Belief
    task: Task
    policy: Block

    def episodes(self, worlds: int, key: PRNGKeyArray) -> tuple[Array, Array]:
        """Measurements and commands of simulated episodes that came to their end, (step, world, number) each."""
        keys = jax.random.split(key, 3)
        params = {k: np.asarray(v, np.float64) for k, v in self.belief.sample(keys[0], worlds).items()}
        rollout = Rollout(self.simulator.with_worlds(worlds), self.task)
        return _rows(rollout.run(self.policy, params, keys[1]), self.simulator)


def learn_watch(healthy: Healthy, logs: list[Log], recipe: LearnWatch, key: PRNGKeyArray) -> LearntWatch:
    """A watch over the policy; `logs` are healthy episodes of it, or of one like it, on the robot."""
    keys, interface = jax.random.split(key, 3), healthy.simulator.interface
    watch = new_watch(interface, recipe.frames, recipe.horizons, recipe.hidden, keys[1])
    taught = healthy.episodes(recipe.worlds, keys[0])
    if len(taught[0]) <= watch.longest + recipe.frames:
        raise GaplessError(
            f"an episode of the policy is over after {len(taught[0])} periods, too early to watch it. Train it first."
        )
    fits = jax.random.split(keys[1], len(watch.looks))
    looks = tuple(_fitted(look, watch.past, taught, recipe, k) for look, k in zip(watch.looks, fits, strict=True))
    watch = replace(watch, looks=looks, slack=jnp.asarray(recipe.slack))
    return _calibrated(watch, healthy.episodes(recipe.worlds, keys[2]), logs, recipe)


def _calibrated(watch: Watch, simulated: tuple[Array, Array], logs: list[Log], recipe: LearnWatch) -> LearntWatch:
    real = [_columns(log) for log in logs if len(log) > watch.longest + recipe.frames]
    begun = watch.longest
    off = np.asarray(_offs(watch, *simulated))[begun:]
    own = [np.asarray(_offs(watch, *(jnp.asarray(v)[:, None] for v in rows)))[begun:, 0] for rows in real]
    widen = np.ones(off.shape[2:])
    if own:
        widen = np.maximum(1.0, _size(np.concatenate(own)) / np.maximum(_size(off.reshape(-1, *widen.shape)), 1e-9))
        watch = _widened(watch, widen)
    watch = eqx.tree_at(lambda w: w.whiten, watch, jnp.asarray(_whitening((off / widen).reshape(-1, widen.size))))
    sums = _sums(watch, *simulated)
    ours = np.array([_sums(watch, *(jnp.asarray(v)[:, None] for v in rows))[0] for rows in real])
    threshold = recipe.margin * _exceeded(sums, recipe.false_alarms)
    threshold = max(threshold, recipe.margin * float(ours.max())) if len(ours) else UNSEEN * threshold
    runs = [_repeats(np.asarray(simulated[0])), *(_repeats(rows[0][:, None]) for rows in real)]
    watch = eqx.tree_at(
        lambda w: (w.threshold, w.patience),
        watch,
        (jnp.asarray(max(threshold, 1e-6)), jnp.asarray(2 * np.max(runs, axis=0) + ANYWAY, jnp.float32)),
    )
    return LearntWatch(watch, sums / float(watch.threshold), ours / float(watch.threshold), float(widen.max()))


def _fitted(look: Look, past: Past, taught: tuple[Array, Array], recipe: LearnWatch, key: PRNGKeyArray) -> Look:
    """The look at its best on episodes that it was not fitted to; sure errors weigh more than doubtful ones, but not all."""
    features, came = (np.asarray(v) for v in _lessons(past, look.ahead, *taught))
    first = max(1, round((1 - HELD_OUT) * features.shape[1]))
    rows, held_out = (
        tuple(jnp.asarray(v.reshape(-1, v.shape[-1])) for v in (features[:, part], came[:, part]))
        for part in (slice(None, first), slice(first, None))
    )
    spread = np.maximum(np.asarray(rows[0]).std(axis=0), 1e-6)
    size = jnp.asarray(np.maximum(np.asarray(rows[1]).std(axis=0), 1e-9))
    look = replace(look, shift=rows[0].mean(axis=0), scale=jnp.asarray(1 / spread), size=size)

    def loss(parts: Any, rows: Any, key: PRNGKeyArray) -> Float[Array, ""]:
        """The likelihood weighted by the deviation (Seitzer et al. 2022), or what is hard to predict is never learned."""
        mean, spread = jax.vmap(replace(look, straight=parts[0], bent=parts[1]))(rows[0])
        off = (rows[1] / size - mean) / jnp.exp(spread)
        return jnp.mean(jax.lax.stop_gradient(jnp.exp(spread)) * (0.5 * off**2 + spread))

    parts: Any = (look.straight, look.bent)
    straight, bent = fit_network(parts, loss, rows, held_out, recipe.fit, key).module
    return replace(look, straight=straight, bent=bent)


@eqx.filter_jit
def _lessons(past: Past, ahead: int, seen: Array, sent: Array) -> tuple[Array, Array]:
    """What a look would have seen at every period of every episode, and what came of it: (step, world, number)."""
    rows = ahead + past.frames
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
            memory = watch.see(memory, _named(row[0], interface.measurement_widths))
            return watch.send(memory, _named(row[1], interface.command_widths)), (memory.off, memory.total)

        return jax.lax.scan(turn, watch.begin(), (seen, sent))[1]

    return jax.vmap(one, (1, 1), 1)(seen, sent)


def _offs(watch: Watch, seen: Array, sent: Array) -> Array:
    return _watched(watch, seen, sent)[0]


def _sums(watch: Watch, seen: Array, sent: Array) -> Float[np.ndarray, " episode"]:
    return np.asarray(_watched(watch, seen, sent)[1]).max(axis=0)


def _named(row: Array, widths: dict[str, int]) -> Signals:
    edges = np.cumsum([0, *widths.values()])
    return {name: row[a:b] for name, a, b in zip(widths, edges[:-1], edges[1:], strict=True)}


def _widened(watch: Watch, widen: Float[np.ndarray, "look width"]) -> Watch:
    looks = tuple(replace(look, widen=jnp.asarray(w)) for look, w in zip(watch.looks, widen, strict=True))
    return replace(watch, looks=looks)


def _whitening(off: Float[np.ndarray, "row number"]) -> Float[np.ndarray, "number number"]:
    clipped = np.clip(off, -6, 6)
    covariance = clipped.T @ clipped / len(clipped)
    covariance += FAINT * np.diag(np.diag(covariance)) + 1e-9 * np.eye(len(covariance))
    return np.linalg.inv(np.linalg.cholesky(covariance)).astype(np.float32)


def _exceeded(sums: Float[np.ndarray, " episode"], share: float) -> float:
    """What so small a share of sums exceeds, by the exponential tail that such sums have, through their median and upper tenth.

    The largest ones themselves are no guide: at the belief's edge are worlds in which the policy fails, and those are not well.
    """
    middle, upper = np.quantile(sums, (0.5, 0.9))
    return float(middle + (upper - middle) * np.log(0.5 / share) / np.log(5.0))


def _size(off: Float[np.ndarray, "row look width"]) -> Float[np.ndarray, "look width"]:
    """Root mean square; what runs away counts no more than six deviations."""
    return np.sqrt(np.mean(np.clip(off, -6, 6) ** 2, axis=0))


def _repeats(seen: Float[np.ndarray, "step world width"]) -> Float[np.ndarray, " width"]:
    """The longest run of equal readings of each number."""
    run = longest = np.zeros(seen.shape[1:])
    for before, after in itertools.pairwise(seen):
        run = np.where(before == after, run + 1, 0)
        longest = np.maximum(longest, run)
    return longest.max(axis=0)


def _rows(episodes: Episodes, simulator: Simulator) -> tuple[Array, Array]:
    """Those episodes that came to their end: one that is over early is not well."""
    rows, interface = int(episodes.lengths.max()), simulator.interface
    whole = np.flatnonzero(episodes.lengths == rows)
    if len(whole) < FEWEST * len(episodes.lengths):
        raise GaplessError(
            f"only {len(whole)} of {len(episodes.lengths)} simulated episodes of the policy come to their end, too few to say "
            "what is healthy. Train it first."
        )
    seen, sent = (
        stack(side, names)[:rows, whole]
        for side, names in (
            (episodes.measurements, interface.measurement_names),
            (episodes.commands, interface.command_names),
        )
    )
    return jnp.asarray(seen, jnp.float32), jnp.asarray(sent, jnp.float32)


def _columns(log: Log) -> tuple[np.ndarray, np.ndarray]:
    rows = min(len(log), *(len(v) for v in log.measurements.values()))
    seen = stack({k: v[:rows] for k, v in log.measurements.items()}, log.interface.measurement_names)
    sent = stack({k: v[:rows] for k, v in log.commands.items()}, log.interface.command_names)
    return seen.astype(np.float32), sent.astype(np.float32)
