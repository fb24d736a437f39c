"""What is well while the robot has shown little of itself: what simulated episodes of the belief come to, all in one sum.

Where the robot is further from what is expected than its simulations are, deviations widen by as much.
"""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from gapless.nets.watch import Look, Watch
from gapless.nets.watch_together import Together

from .watch_own import spread
from .watch_recipe import LearntWatch, LearnWatch, Own, Simulated
from .watch_rows import offs_of, patience, sums_of

FAINT = 1e-3
"""Share of its own variance that is added to what is off, so that whitening divides by nothing that is nearly zero."""
UNSEEN = 2.0
"""How many times higher the threshold is while the robot has not shown itself."""


def by_simulations(watch: Watch, simulated: Simulated, own: Own, recipe: LearnWatch) -> LearntWatch:
    """The watch with one sum, whose threshold few simulated episodes would exceed, and none of the robot's."""
    off, real = offs_of(watch, *simulated)[watch.longest :], [tuple(v[:, None] for v in rows) for rows in own]
    looks, widen = widened(watch, simulated, own)
    watch = replace(
        Together.blank(watch.interface, watch.past, looks),
        whiten=jnp.asarray(_whitening((off / widen).reshape(-1, widen.size))),
        slack=jnp.asarray(recipe.slack),
    )
    sums, ours = sums_of(watch, *simulated), np.array([sums_of(watch, *rows)[0] for rows in real])
    threshold = recipe.margin * float(exceeded(sums, recipe.false_alarms))
    threshold = max(threshold, recipe.margin * float(ours.max())) if len(ours) else UNSEEN * threshold
    threshold = max(threshold, 1e-6)
    watch = replace(watch, threshold=jnp.asarray(threshold), patience=patience(simulated, own))
    return LearntWatch(watch, sums / threshold, ours / threshold, float(widen.max()))


def widened(watch: Watch, simulated: Simulated, own: Own) -> tuple[tuple[Look, ...], Float[np.ndarray, "look width"]]:
    """Looks with deviations as large as the robot's own episodes ask for, and by how much they grew."""
    off = offs_of(watch, *simulated)[watch.longest :]
    widen = np.ones(off.shape[2:])
    if own:
        ours = [offs_of(watch, *(v[:, None] for v in rows))[watch.longest :, 0] for rows in own]
        widen = np.maximum(1.0, spread(ours) / np.maximum(spread([off.reshape(-1, *widen.shape)]), 1e-9))
    return tuple(replace(look, widen=jnp.asarray(w)) for look, w in zip(watch.looks, widen, strict=True)), widen


def exceeded(sums: Float[np.ndarray, " episode *sum"], share: float) -> Float[np.ndarray, "*sum"]:
    """What so small a share of sums exceeds, by the exponential tail that such sums have, through their median and upper tenth.

    The largest ones themselves are no guide: at the belief's edge are worlds in which the policy fails, and those are not well.
    """
    middle, upper = np.quantile(sums, (0.5, 0.9), axis=0)
    return middle + (upper - middle) * np.log(0.5 / share) / np.log(5.0)


def _whitening(off: Float[np.ndarray, "row number"]) -> Float[np.ndarray, "number number"]:
    clipped = np.clip(off, -6, 6)
    covariance = clipped.T @ clipped / len(clipped)
    covariance += FAINT * np.diag(np.diag(covariance)) + 1e-9 * np.eye(len(covariance))
    return np.linalg.inv(np.linalg.cholesky(covariance)).astype(np.float32)
