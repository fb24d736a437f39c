"""A first guess at what bodies are made of, bettered by Gauss-Newton steps through a clone.

Predictions are one step long: each begins where the bodies were seen. What a clone cannot predict grows with what contacts
do, so that residuals are judged by how much the velocity changed.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from gapless.simulators.planar.clone import Clone, Moving, Push
from gapless.simulators.planar.matter import NAMED
from gapless.simulators.planar.scene import Motion, Scene, gyration, masses

from .descent import descend, sweep
from .observed import Observed
from .prior import Matter

KINKED = np.array([NAMED.index("friction"), NAMED.index("restitution")])


@dataclass(frozen=True)
class Refining:
    """How a guess is bettered."""

    rounds: int = 5
    """Gauss-Newton steps."""
    steps: int = 24
    """Steps of the scene that are predicted, those with contacts first."""
    noise: float = 1e-3
    """Error of a predicted speed where nothing touches, m/s."""
    share: float = 0.01
    """The same as a share of the change of velocity that contacts make."""


class Refined(NamedTuple):
    """A Gaussian over all coordinates of all parts."""

    mean: Float[Array, "part embedding"]
    covariance: Float[Array, "coordinate coordinate"]


class _Steps(NamedTuple):
    before: Motion
    after: Motion
    push: Push
    seen: Bool[Array, " step"]


class Asked(NamedTuple):
    """What is looked for, and where. Coordinates are places among all of them; beyond the last come places that do not exist."""

    touching: Bool[Array, " step"]
    chosen: Int[Array, " column"]
    begin: Float[Array, "part embedding"]
    """The first guess at all of them."""
    swept: Int[Array, " swept"]
    """Which of those can have kinks: a friction that is only known to be large enough, a bounce that was never asked for."""


def asked_for(
    touching: Bool[Array, " step"], open_: Bool[Array, "part embedding"], first: Matter, most: tuple[int, int]
) -> Asked:
    """Open coordinates; at most as many as `most` says, and as many of friction and restitution."""
    count, swept = most
    chosen = jnp.flatnonzero(open_.reshape(-1), size=count, fill_value=open_.size)
    kinked = (chosen < open_.size) & jnp.isin(chosen % open_.shape[1], KINKED)
    return Asked(touching, chosen, first.mean, jnp.flatnonzero(kinked, size=swept, fill_value=count))


def refine(clone: Clone, scene: Scene, observed: Observed, prior: Matter, asked: Asked, recipe: Refining) -> Refined:
    """The posterior around its peak nearest to the first guess; coordinates that are not open stay as the prior has them."""
    flat, chosen = prior.mean.reshape(-1), asked.chosen
    unit = jnp.append(prior.deviation.reshape(-1), 0.0)[chosen]
    unit = jnp.where(unit > 0, unit, 1.0)
    middle, begin = (jnp.append(m.reshape(-1), 0.0)[chosen] / unit for m in (prior.mean, asked.begin))
    steps = _worth_most(observed, asked.touching, recipe.steps)

    def residuals(x: Float[Array, " column"]) -> Float[Array, " residual"]:
        z = flat.at[chosen].set(x * unit, mode="drop").reshape(prior.mean.shape)
        return _residuals(clone, scene._replace(z=z), steps, observed.dt_s, recipe)

    x, covariance = sweep(residuals, middle, *descend(residuals, middle, begin, recipe.rounds), asked.swept)
    whole = jnp.diag(prior.deviation.reshape(-1) ** 2)
    whole = whole.at[chosen[:, None], chosen[None]].set(covariance * jnp.outer(unit, unit), mode="drop")
    return Refined(flat.at[chosen].set(x * unit, mode="drop").reshape(prior.mean.shape), whole)


def _worth_most(observed: Observed, touching: Bool[Array, " step"], count: int) -> _Steps:
    """The first steps during which anything touches, and after them the first others."""
    before, after = (jax.tree.map(lambda x, s=s: x[s], observed.motion) for s in (slice(None, -1), slice(1, None)))
    worth = jnp.where(observed.seen, 1.0 + touching, 0.0)
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
    radius = jax.lax.stop_gradient(gyration(mass))
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
