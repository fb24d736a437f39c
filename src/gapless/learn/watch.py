"""A watch for one policy on one robot: looks fitted to simulated episodes of the belief, thresholds set by healthy ones.

What healthy means is said by episodes that the fit has not seen. While the robot has shown little of itself they are simulated,
drawn anew from the belief (`watch_simulated.py`); once there are enough of its own, those alone say it (`watch_robot.py`).
"""

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Belief, Block, GaplessError, Log, Simulator, Task, stack
from gapless.nets.fitting import fit_network
from gapless.nets.stored_watch import new_watch
from gapless.nets.watch import Look, Past
from gapless.simulators import Rollout
from gapless.simulators.rollout import Episodes

from .watch_recipe import LearntWatch, LearnWatch, Simulated
from .watch_robot import by_own_episodes
from .watch_rows import columns_of, lessons_of
from .watch_simulated import by_simulations

HELD_OUT = 0.2
FEWEST = 0.25
"""Share of simulated episodes that must come to their end."""


@dataclass(frozen=True)
class Healthy:
    """Where healthy episodes come from."""

    simulator: Simulator
    belief: Belief
    task: Task
    policy: Block

    def episodes(self, worlds: int, key: PRNGKeyArray) -> Simulated:
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
    own = [columns_of(log) for log in logs if len(log) > watch.longest + recipe.frames]
    calibrated = by_own_episodes if len(own) >= recipe.enough else by_simulations
    return calibrated(replace(watch, looks=looks), healthy.episodes(recipe.worlds, keys[2]), own, recipe)


def _fitted(look: Look, past: Past, taught: Simulated, recipe: LearnWatch, key: PRNGKeyArray) -> Look:
    """The look at its best on episodes that it was not fitted to; sure errors weigh more than doubtful ones, but not all."""
    features, came = (np.asarray(v) for v in lessons_of(past, look.ahead, *taught))
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


def _rows(episodes: Episodes, simulator: Simulator) -> Simulated:
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
