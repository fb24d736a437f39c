"""A posterior around its peak: Gauss-Newton steps down to it, and sweeps along the coordinates in which it is no parabola.

Coordinates come in deviations of the prior. Residuals have heavy tails, so that they are judged by Student's distribution.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

FREEDOM = 3.0
"""Degrees of freedom of Student's distribution."""
LONGEST = 1.5
"""Longest step."""
SWEEP = jnp.array([0.01, 0.05, 0.2, 0.5, 1.0, 1.7, 2.7])
"""Distances at which sweeps look, to either side: narrow peaks and wide plateaus are both seen."""
Residuals = Callable[[Float[Array, " column"]], Float[Array, " residual"]]


class Peak(NamedTuple):
    """The lowest place found, and the curvature of the cost there."""

    x: Float[Array, " column"]
    curvature: Float[Array, "column column"]


def descend(residuals: Residuals, middle: Float[Array, " column"], begin: Float[Array, " column"], rounds: int) -> Peak:
    """Damped Gauss-Newton steps from `begin`; the prior is a unit Gaussian around `middle`."""

    def twice(x: Array) -> tuple[Array, Array]:
        found = residuals(x)
        return found, found

    def step(held: _Held, _: None) -> tuple[_Held, None]:
        slope, r = jax.jacfwd(twice, has_aux=True)(held.tried)
        cost = _cost(held.tried, r, middle)
        counts = (FREEDOM + 1) / (FREEDOM + r**2)
        curvature = (slope * counts[:, None]).T @ slope + jnp.eye(len(begin))
        gradient = slope.T @ (counts * r) + held.tried - middle
        better = cost < held.cost
        new, old = (held.tried, cost, curvature, gradient), held[1:5]
        x, cost, curvature, gradient = (jnp.where(better, a, b) for a, b in zip(new, old, strict=True))
        damping = jnp.clip(jnp.where(better, held.damping / 5, held.damping * 4), 1e-6, 1e3)
        change = jnp.linalg.solve(curvature + damping * jnp.diag(jnp.diag(curvature)), gradient)
        return _Held(x - jnp.clip(change, -LONGEST, LONGEST), x, cost, curvature, gradient, damping), None

    nothing = _Held(begin, begin, jnp.inf, jnp.eye(len(begin)), jnp.zeros_like(begin), 0.05)  # pyright: ignore
    done, _ = jax.lax.scan(step, jax.tree.map(jnp.asarray, nothing), None, rounds + 1)
    return Peak(done.x, done.curvature)


class _Held(NamedTuple):
    tried: Float[Array, " column"]
    x: Float[Array, " column"]
    cost: Float[Array, ""]
    curvature: Float[Array, "column column"]
    gradient: Float[Array, " column"]
    damping: Float[Array, ""]


def sweep(
    residuals: Residuals, middle: Float[Array, " column"], x: Float[Array, " column"],
    curvature: Float[Array, "column column"], swept: Int[Array, " swept"],
) -> tuple[Float[Array, " column"], Float[Array, "column column"]]:  # fmt: skip
    """Mean and covariance; of the swept columns, mean and variance of what lies along them, the others held at the peak.

    A swept column beyond the last is none.
    """
    covariance = jnp.linalg.inv(curvature)
    away = jnp.concatenate([-SWEEP[::-1], jnp.zeros(1), SWEEP])
    width = jnp.diff(away)
    width = (jnp.append(width, 0.0) + jnp.append(0.0, width)) / 2

    def along(column: Int[Array, ""]) -> tuple[Array, Array]:
        def cost(a: Array) -> Array:
            place = x.at[column].add(a, mode="drop")
            return _cost(place, residuals(place), middle)

        costs = jax.vmap(cost)(away)
        share = width * jnp.exp(jnp.min(costs) - costs)
        share = share / jnp.sum(share)
        moved = jnp.sum(share * away)
        return moved, jnp.sum(share * (away - moved) ** 2)

    moved, spread = jax.lax.map(along, swept)
    alone = 1 / jnp.append(jnp.diag(curvature), 1.0)[swept]
    shared = jnp.append(jnp.diag(covariance), 1.0)[swept]
    spread = jnp.maximum(spread, jnp.minimum(alone, SWEEP[0] ** 2)) + jnp.maximum(shared - alone, 0.0)
    wide = jnp.ones(len(x)).at[swept].set(jnp.sqrt(spread / shared), mode="drop")
    return x.at[swept].add(moved, mode="drop"), covariance * jnp.outer(wide, wide)


def _cost(x: Array, residuals: Array, middle: Array) -> Float[Array, ""]:
    return jnp.sum((FREEDOM + 1) / 2 * jnp.log1p(residuals**2 / FREEDOM)) + jnp.sum((x - middle) ** 2) / 2
