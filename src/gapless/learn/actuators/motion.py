"""An actuator from motion alone: what it must be like for the simulated joints to move as the recorded ones did."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from gapless.core import GaplessError, Parameter, Params
from gapless.nets.fitting import FitNetwork, Fitted, fit_network
from gapless.simulators.joints import Joints, Pieces
from gapless.simulators.parts.actuator_network import NetworkActuator

from .bounded import to_free, to_params
from .marquardt import Found, minimise

Progress = Callable[[int, float], None]


@dataclass(frozen=True)
class MatchMotion:
    """Fit the parameters of a rung to recorded motion."""

    tolerable_rad: float = 0.01
    """Beyond this, errors count linearly: sticking somewhere else must not rule the fit."""
    iterations: int = 15
    """Steps of the search."""
    prior: float = 1e-4
    """Weak pull of each parameter to where it began."""


def fit_joints(
    joints: Joints, free: Sequence[Parameter], begin: Params, pieces: Pieces, recipe: MatchMotion,
    progress: Progress | None = None,
) -> tuple[Params, Float[Array, " joint"]]:  # fmt: skip
    """Params with one value per joint, each joint fitted to its own motion, and the costs.

    `begin` holds every parameter; the `free` ones move. Joints act on each other in the simulation, but not in the slopes.
    """

    def residuals(free_now: Array) -> Array:
        params = begin | to_params(free_now, free)
        missed = (joints.play(params, pieces, jax.random.key(0)) - pieces.seen) / recipe.tolerable_rad
        return jnp.moveaxis(missed, -1, 0).reshape(missed.shape[-1], -1)

    found = minimise(residuals, to_free(begin, free), recipe.iterations, recipe.prior, progress)
    return begin | to_params(found.free, free), found.cost


def fit_folds(
    joints: Joints, free: Sequence[Parameter], begins: Sequence[Params], pieces: Pieces,
    used: Bool[np.ndarray, "fold window"], recipe: MatchMotion,
) -> list[Params]:  # fmt: skip
    """The best params of each fold, which uses some of the windows, over several beginnings; all searched side by side."""
    starts = jnp.stack([to_free(b, free).reshape(-1) for b in begins])
    first = jnp.tile(starts, (len(used), 1))
    mask = jnp.asarray(np.repeat(used, len(begins), axis=0), jnp.float32)
    fixed = begins[0]

    def residuals(free_now: Array) -> Array:
        def one(values: Array, mine: Array) -> Array:
            params = fixed | to_params(values, free)
            missed = joints.play(params, pieces, jax.random.key(0)) - pieces.seen
            return (mine[:, None, None] * missed / recipe.tolerable_rad).reshape(-1)

        return jax.vmap(one)(free_now, mask)

    found = minimise(residuals, first, recipe.iterations, recipe.prior)
    return [fixed | to_params(best, free) for best in _best(found, len(used))]


def fit_network_to_motion(
    joints: Joints, params: Params, pieces: Pieces, held_out: Pieces, recipe: FitNetwork, key: PRNGKeyArray
) -> tuple[Joints, Fitted]:
    """The joints with their actuator's network fitted through the simulation; never worse on the held-out windows."""
    network = joints.actuator
    if not isinstance(network, NetworkActuator):
        raise GaplessError(
            "only a network is fitted this way; the joints' actuator is none. Use fit_joints for params."
        )

    def with_weights(weights: Any) -> Joints:
        return eqx.tree_at(lambda j: j.actuator, joints, network.with_weights(weights))

    def loss(weights: Any, rows: Pieces, key: PRNGKeyArray) -> Float[Array, ""]:
        # Robust, in hundredths of a radian.
        missed = (with_weights(weights).play(params, rows, key) - rows.seen) / 0.01
        return jnp.mean(2 * (jnp.sqrt(1 + missed**2) - 1))

    fitted = fit_network(network.weights, loss, pieces, held_out, recipe, key)
    return with_weights(fitted.module), fitted


def _best(found: Found, folds: int) -> list[Array]:
    free, cost = (x.reshape(folds, -1, *x.shape[1:]) for x in (found.free, found.cost))
    return [f[int(jnp.argmin(c))] for f, c in zip(free, cost, strict=True)]
