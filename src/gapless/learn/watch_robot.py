"""What is well once the robot has shown enough of itself: what its own episodes come to, each number and sign in a sum.

A belief is wider than a robot. Looks are bent towards it, and each of its episodes is judged by looks bent by the others alone.
"""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from gapless.nets.watch import Look, Watch
from gapless.nets.watch_apart import RUNAWAY, Apart

from .watch_own import bend, spread
from .watch_recipe import LearntWatch, LearnWatch, Own, Simulated
from .watch_rows import lessons_of, patience, sums_of

Offs = Float[np.ndarray, "step look width"]


def by_own_episodes(watch: Watch, simulated: Simulated, own: Own, recipe: LearnWatch) -> LearntWatch:
    """The watch that expects what this robot does, with thresholds beyond all of its episodes."""
    looks, offs = _bent(watch, own)
    watch = replace(Apart.blank(watch.interface, watch.past, looks), slack=jnp.asarray(recipe.own_slack))
    most = np.array([_most(off, recipe.own_slack) for off in offs])
    threshold = np.maximum(recipe.own_margin * (most.max(axis=0) + 1), RUNAWAY)  # one mad reading is never enough
    shares = (sums_of(watch, *simulated) / threshold).max(axis=(1, 2))
    watch = replace(watch, threshold=jnp.asarray(threshold, jnp.float32), patience=patience(simulated, own))
    widened = max(float(look.widen.max()) for look in watch.looks)
    return LearntWatch(watch, shares, (most / threshold).max(axis=(1, 2)), widened)


def _bent(watch: Watch, own: Own) -> tuple[tuple[Look, ...], list[Offs]]:
    """Looks that expect what this robot does, and what is off in each of its episodes without that one."""
    looks, offs = [], []
    for look in watch.looks:
        late = watch.longest - look.ahead
        lessons = [lessons_of(watch.past, look.ahead, *(v[:, None] for v in rows)) for rows in own]
        features, came = ([np.asarray(each[k])[late:, 0] for each in lessons] for k in (0, 1))
        bent = bend(look, features, came)
        size = spread(bent.off)
        looks.append(replace(bent.look, widen=jnp.asarray(size, jnp.float32)))
        offs.append([off / size for off in bent.off])
    return tuple(looks), [np.stack(each, axis=1) for each in zip(*offs, strict=True)]


def _most(off: Offs, slack: float) -> Float[np.ndarray, "sign number"]:
    """The largest that each sum comes to in an episode."""
    total = most = np.zeros((2, off[0].size))
    for row in np.clip(off.reshape(len(off), -1), -RUNAWAY, RUNAWAY):
        total = np.maximum(total + np.stack([row, -row]) - slack, 0.0)
        most = np.maximum(most, total)
    return most
