"""A first guess at what bodies are made of, bettered by Gauss-Newton steps through a clone that predicts each step from the last frame.

Predictions are one step long: each begins where the bodies were seen. What a clone cannot predict grows with what contacts
do, and has heavy tails; so residuals are judged by Student's distribution, as wide as the change of velocity makes them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from gapless.simulators.planar.clone import Clone, Moving, Push
from gapless.simulators.planar.contacts import find
from gapless.simulators.planar.scene import Motion, Scene, masses

from .observed import Observed
from .prior import Matter

FREEDOM = 3.0
"""Degrees of freedom of Student's distribution."""


@dataclass(frozen=True)
class Refining:
    """How a guess is bettered."""

    rounds: int = 8
    """Gauss-Newton steps."""
    steps: int = 32
    """Steps of the scene that are predicted, those with contacts first."""
    noise: float = 2e-3
    """Error of a predicted speed where nothing touches, m/s."""
    share: float = 0.02
    """The same as a share of the change of velocity that contacts make."""
    doubt: float = 2.0
    """The encoder's deviations count as so many times what it says: it has seen the same steps."""


class Refined(NamedTuple):
    """A Gaussian over all coordinates of all parts."""

    mean: Float[Array, "part embedding"]
    covariance: Float[Array, "coordinate coordinate"]
    cost: Float[Array, ""]


class _Steps(NamedTuple):
    before: Motion
    after: Motion
    push: Push
    seen: Bool[Array, " step"]


def refine(
    clone: Clone, scene: Scene, observed: Observed, prior: Matter, first: Matter, open_: Bool[Array, "part embedding"],
    recipe: Refining, columns: int,
) -> Refined:  # fmt: skip
    """The nearest peak of the posterior and its curvature; coordinates that are not open stay as the prior has them.

    At most `columns` coordinates are open.
    """
    chosen = jnp.flatnonzero(open_.reshape(-1), size=columns, fill_value=open_.size)
    unit = jnp.append(prior.deviation.reshape(-1), 0.0)[chosen]
    unit = jnp.where(unit > 0, unit, 1.0)
    begin = jnp.append(first.mean.reshape(-1), 0.0)[chosen] / unit
    weight = _weight(first, chosen, unit, recipe)
    steps = _worth_most(scene, prior, observed, recipe.steps)

    def residuals(x: Float[Array, " column"]) -> Float[Array, " residual"]:
        flat = prior.mean.reshape(-1).at[chosen].set(x * unit, mode="drop")
        return _residuals(clone, scene._replace(z=flat.reshape(prior.mean.shape)), steps, observed.dt_s, recipe)

    x, curvature, cost = _descend(residuals, begin, weight, recipe.rounds)
    scale = jnp.outer(unit, unit)
    mean = prior.mean.reshape(-1).at[chosen].set(x * unit, mode="drop")
    covariance = jnp.diag(prior.deviation.reshape(-1) ** 2)
    covariance = covariance.at[chosen[:, None], chosen[None]].set(jnp.linalg.inv(curvature) * scale, mode="drop")
    return Refined(mean.reshape(prior.mean.shape), covariance, cost)


def _weight(first: Matter, chosen: Int[Array, " column"], unit: Array, recipe: Refining) -> Float[Array, " column"]:
    """Precision of the first guess in units of the prior's, never less than that of the prior."""
    doubted = recipe.doubt * jnp.append(first.deviation.reshape(-1), 1.0)[chosen] / unit
    return jnp.maximum(1 / jnp.maximum(doubted, 1e-3) ** 2, 1.0)


def _worth_most(scene: Scene, prior: Matter, observed: Observed, count: int) -> _Steps:
    """The steps during which most touches, and after them the first ones."""
    before, after = (jax.tree.map(lambda x, s=s: x[s], observed.motion) for s in (slice(None, -1), slice(1, None)))
    shapes = scene._replace(z=prior.mean)
    touching = jax.vmap(lambda m: jnp.sum(find(shapes, m).touching))(before)
    worth = jnp.where(observed.seen, 1.0 + jnp.minimum(touching, 1), 0.0)
    _, best = jax.lax.top_k(worth, min(count, len(worth)))
    return jax.tree.map(lambda x: x[best], _Steps(before, after, observed.push, observed.seen))


def _residuals(
    clone: Clone, scene: Scene, steps: _Steps, dt_s: Float[Array, ""], recipe: Refining
) -> Float[Array, " residual"]:
    """Errors of predicted velocities in units of what is expected."""
    parts, mass = len(scene.count), masses(scene)
    nothing = jnp.zeros((parts, parts, 2, 2))

    def predicted(before: Motion, push: Push) -> Motion:
        return clone.step(scene, Moving(before, nothing), push, dt_s).motion

    found = jax.vmap(predicted)(steps.before, steps.push)
    radius = jax.lax.stop_gradient(jnp.sqrt(mass.inertia / jnp.maximum(mass.kg, 1e-6) + 1e-9))
    off = jnp.concatenate(
        [found.velocity - steps.after.velocity, (radius * (found.spin - steps.after.spin))[..., None]], -1
    )
    change = jnp.concatenate(
        [steps.after.velocity - steps.before.velocity - dt_s * scene.gravity,
         (radius * (steps.after.spin - steps.before.spin))[..., None]], -1,
    )  # fmt: skip
    expected = jnp.sqrt(recipe.noise**2 + recipe.share**2 * jnp.sum(change**2, -1, keepdims=True))
    there = steps.seen[:, None, None] & scene.free[None, :, None]
    return jnp.where(there, off / expected, 0.0).reshape(-1)


def _descend(
    residuals: Callable[[Array], Array], begin: Float[Array, " column"], weight: Float[Array, " column"], rounds: int
) -> tuple[Float[Array, " column"], Float[Array, "column column"], Float[Array, ""]]:
    """The lowest place found, the curvature there, and the cost."""

    def cost_of(x: Array, r: Array) -> Array:
        return jnp.sum((FREEDOM + 1) / 2 * jnp.log1p(r**2 / FREEDOM)) + jnp.sum(weight * (x - begin) ** 2) / 2

    def local(x: Array) -> tuple[Array, Array, Array]:
        r, slope = residuals(x), jax.jacfwd(residuals)(x)
        counts = (FREEDOM + 1) / (FREEDOM + r**2)
        curvature = (slope * counts[:, None]).T @ slope + jnp.diag(weight)
        return cost_of(x, r), curvature, slope.T @ (counts * r) + weight * (x - begin)

    def round_(held: tuple, _: None) -> tuple[tuple, None]:
        x, cost, curvature, gradient, damping = held
        step = jnp.linalg.solve(curvature + damping * jnp.diag(jnp.diag(curvature)), gradient)
        tried = x - jnp.clip(step, -1.5, 1.5)
        new = (tried, *local(tried))
        better = new[1] < cost
        kept = jax.tree.map(lambda a, b: jnp.where(better, a, b), new, (x, cost, curvature, gradient))
        return (*kept, jnp.clip(jnp.where(better, damping / 5, damping * 4), 1e-6, 1e3)), None

    (x, cost, curvature, _, _), _ = jax.lax.scan(round_, (begin, *local(begin), jnp.asarray(1e-2)), None, rounds)
    return x, curvature, cost
