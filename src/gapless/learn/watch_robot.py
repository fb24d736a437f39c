"""What is well once the robot has shown enough of itself: what its own episodes come to, each number in sums of its own.

A belief is wider than a robot. Looks lean towards it, and each of its episodes is judged by looks taught by the others alone.
Where that explains little, the belief is as narrow as the robot: looks stay as they are, and simulated episodes, which are many,
say what is well along with its own.
"""

from dataclasses import replace
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from gapless.nets.watch import Watch
from gapless.nets.watch_apart import ONE_SIDED, SQUARED, Apart, one_reading

from .watch_own import Leaning, lean
from .watch_recipe import LearntWatch, LearnWatch, Own, Simulated
from .watch_rows import largest, lessons_of, patience, sums_of
from .watch_simulated import exceeded, widened

SQUARES = 1.8
"""How many times further squares may go beyond the robot's own episodes: their tails are longer."""


class Told(NamedTuple):
    """A watch, and what is well for it."""

    watch: Apart
    threshold: Float[np.ndarray, "while number"]
    own: Float[np.ndarray, "episode while number"]
    """What each sum came to in each of the robot's own episodes."""
    widened: float


def by_own_episodes(watch: Watch, simulated: Simulated, own: Own, recipe: LearnWatch) -> LearntWatch:
    """The watch that expects what this robot does, with thresholds beyond all of its episodes."""
    leanings = _leanings(watch, own)
    pays = np.mean([each.left for each in leanings]) < recipe.pays
    told = _by_robot(watch, leanings, recipe) if pays else _by_all(watch, simulated, own, recipe)
    threshold = np.maximum(told.threshold, one_reading())
    shares = (sums_of(told.watch, *simulated) / threshold).max(axis=(1, 2))
    made = replace(told.watch, threshold=jnp.asarray(threshold, jnp.float32), patience=patience(simulated, own))
    return LearntWatch(made, shares, (told.own / threshold).max(axis=(1, 2)), told.widened)


def _by_robot(watch: Watch, leanings: list[Leaning], recipe: LearnWatch) -> Told:
    """Looks lean, and only the robot's own episodes say what is well: simulated ones are of other robots."""
    made = Apart.blank(watch.interface, watch.past, tuple(each.look for each in leanings))
    offs = [np.stack(each, axis=1) for each in zip(*(each.off for each in leanings), strict=True)]
    own = np.array([largest(made, off) for off in offs])
    further = np.repeat([1.0, SQUARES], [2 * len(ONE_SIDED), len(SQUARED)])[:, None]
    left = max(float(each.left.max()) for each in leanings)
    return Told(made, recipe.own_margin(len(own)) * further * (own.max(axis=0) + 1), own, float(np.sqrt(left)))


def _by_all(watch: Watch, simulated: Simulated, own: Own, recipe: LearnWatch) -> Told:
    """Looks stay as they are, and simulated episodes say with the robot's own what is well."""
    looks, wider = widened(watch, simulated, own)
    made = Apart.blank(watch.interface, watch.past, looks)
    ours = np.array([sums_of(made, *(v[:, None] for v in rows))[0] for rows in own])
    usual = exceeded(sums_of(made, *simulated), recipe.false_alarms)
    return Told(made, recipe.margin * np.maximum(usual, ours.max(axis=0)), ours, float(wider.max()))


def _leanings(watch: Watch, own: Own) -> list[Leaning]:
    """What each look makes of the robot's own episodes, in the periods in which all of them look."""
    found = []
    for look in watch.looks:
        late = watch.longest - look.ahead
        lessons = [lessons_of(watch.past, look.ahead, *(v[:, None] for v in rows)) for rows in own]
        features, came = ([np.asarray(each[k])[late:, 0] for each in lessons] for k in (0, 1))
        found.append(lean(look, features, came))
    return found
