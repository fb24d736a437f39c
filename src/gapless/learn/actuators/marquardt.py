"""Levenberg-Marquardt for several independent problems side by side, with slopes from forward differentiation."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Residuals = Callable[[Float[Array, "problem param"]], Float[Array, "problem row"]]
CHAOTIC = 1e3
"""A residual that changes by more than this per unit of a free parameter is not used."""


class Found(NamedTuple):
    """Where the search ended."""

    free: Float[Array, "problem param"]
    cost: Float[Array, " problem"]
    """Mean robust square of the residuals."""


def minimise(
    residuals: Residuals, begin: Float[Array, "problem param"], iterations: int = 20, prior: float = 1e-3,
    progress: Callable[[int, float], None] | None = None,
) -> Found:  # fmt: skip
    """The free parameters of least robust cost. Rows of one problem must depend on its own parameters only.

    Residuals are in units of what is tolerable: beyond one they count linearly. `prior` pulls weakly to the start.
    """

    @jax.jit
    def normal(free: Array) -> tuple[Array, Array, Array]:
        def tangent(k: Array) -> tuple[Array, Array]:
            along = jnp.zeros(free.shape).at[:, k].set(1.0)
            return jax.jvp(residuals, (free,), (along,))

        r, slopes = jax.vmap(tangent, out_axes=(None, 2))(jnp.arange(free.shape[1]))
        # Rows where the motion is chaotic say nothing about the parameters, and would drown those that do.
        calm = jnp.max(jnp.abs(slopes), axis=2, keepdims=True) < CHAOTIC
        slopes = jnp.where(calm, slopes, 0.0)
        weight = 1 / jnp.sqrt(1 + r**2)
        gradient = jnp.einsum("brp,br->bp", slopes, r * weight) / r.shape[1] + prior * (free - begin)
        curvature = jnp.einsum("brp,brq->bpq", slopes * weight[..., None], slopes) / r.shape[1]
        return gradient, curvature + prior * jnp.eye(free.shape[1]), cost_of(free, r)

    def cost_of(free: Array, r: Array) -> Array:
        robust = jnp.mean(2 * (jnp.sqrt(1 + r**2) - 1), axis=1)
        return jnp.where(jnp.isfinite(robust), robust, 1e9) + prior * jnp.sum((free - begin) ** 2, axis=1)

    @jax.jit
    def trial(free: Array, gradient: Array, curvature: Array, damping: Array) -> tuple[Array, Array]:
        scale = jnp.einsum("bpp->bp", curvature)
        damped = curvature + damping[:, None, None] * jax.vmap(jnp.diag)(scale + 1e-8)
        change = -jnp.linalg.solve(damped, gradient[..., None])[..., 0]
        # One problem without a step must not spoil those that it is simulated with.
        tried = free + jnp.where(jnp.isfinite(change), jnp.clip(change, -2, 2), 0.0)
        return tried, cost_of(tried, residuals(tried))

    free, damping = begin, jnp.full(len(begin), 1e-2)
    cost, still = jnp.full(len(begin), jnp.inf), 0
    for k in range(iterations):
        gradient, curvature, cost = normal(free)
        moved = jnp.zeros(len(begin), bool)
        before = cost
        for _ in range(3):
            tried, now = trial(free, gradient, curvature, damping)
            better = (now < cost) & ~moved
            free, cost = jnp.where(better[:, None], tried, free), jnp.where(better, now, cost)
            moved = moved | better
            damping = jnp.clip(jnp.where(better, damping / 4, jnp.where(moved, damping, damping * 8)), 1e-6, 1e6)
            if bool(moved.all()):
                break
        if progress is not None:
            progress(k + 1, float(cost.mean()))
        # Once may be too little damping; it has grown by then.
        still = still + 1 if bool(jnp.all(before - cost < 1e-4 * before)) else 0
        if still == 3:
            break
    return Found(free, cost)
