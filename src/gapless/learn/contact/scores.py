"""How far a forecast of a throw is off: a path, a cloud of samples, and the path that stands for a cloud."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from gapless.simulators.rigid.play import Seen
from gapless.simulators.rigid.vectors import angle

ROUNDS = 20
"""Steps of Weiszfeld's towards a median."""


class Off(NamedTuple):
    """Means over a throw's time, one for each throw."""

    distance_m: Float[Array, " toss"]
    angle_rad: Float[Array, " toss"]


def off(found: Seen, truth: Seen, length: Int[Array, " toss"]) -> Off:
    """Mean distance and mean geodesic angle between two paths."""
    apart = _distance(found.position, truth.position)
    turned = angle(jnp.moveaxis(found.quaternion, 1, 0), jnp.moveaxis(truth.quaternion, 1, 0))
    return Off(over_time(apart, length), over_time(turned, length))


def over_time(values: Float[Array, "time toss"], length: Int[Array, " toss"]) -> Float[Array, " toss"]:
    """The mean over the samples that a throw has."""
    there = jnp.arange(values.shape[0])[:, None] < length
    return jnp.sum(jnp.where(there, values, 0.0), axis=0) / jnp.minimum(length, values.shape[0])


def central(cloud: Seen) -> Seen:
    """At each time the point with the least mean distance from all samples, and the sample's orientation with the least angle.

    The samples lead. For an honest cloud no other path has a smaller expected error.
    """

    def nearer(_: int, where: Array) -> Array:
        weight = 1 / (jnp.linalg.norm(cloud.position - where, axis=2, keepdims=True) + 1e-5)
        return jnp.sum(weight * cloud.position, axis=0) / jnp.sum(weight, axis=0)

    where = jax.lax.fori_loop(0, ROUNDS, nearer, jnp.mean(cloud.position, axis=0))
    return Seen(where, jax.lax.map(_medoid, jnp.moveaxis(cloud.quaternion, 1, 0)))


def energy(cloud: Seen, truth: Seen, length: Int[Array, " toss"]) -> Off:
    """Mean distance to the truth less half the mean distance between samples, for places and for orientations.

    Angles count as chords here, for which the score is proper.
    """
    places = _energy(cloud.position, truth.position, _distance)
    turns = _energy(cloud.quaternion, truth.quaternion, _chord)
    return Off(over_time(places, length), over_time(turns, length))


def _energy(cloud: Array, truth: Array, apart: Callable[[Array, Array], Array]) -> Float[Array, "time toss"]:
    others = cloud.shape[0] - 1
    near = jnp.mean(jax.vmap(lambda s: apart(s, truth))(cloud), axis=0)

    def ring(total: Array, k: Array) -> tuple[Array, None]:
        return total + jnp.mean(jax.vmap(apart)(cloud, jnp.roll(cloud, k, axis=0)), axis=0), None

    # Every pair, ring by ring: no array of all pairs at once.
    spread = jax.lax.scan(ring, jnp.zeros_like(near), jnp.arange(1, others + 1))[0]
    return near - spread / (2 * max(others, 1))


def _distance(a: Array, b: Array) -> Float[Array, "time toss"]:
    return jnp.sqrt(jnp.sum((a - b) ** 2, axis=1) + 1e-12)


def _chord(a: Array, b: Array) -> Float[Array, "time toss"]:
    same = jnp.sum(a * b, axis=1) ** 2
    return 2 * jnp.sqrt(jnp.maximum(1 - same, 0.0) + 1e-9)


def _medoid(turns: Float[Array, "sample 4 toss"]) -> Float[Array, "4 toss"]:
    alike = jnp.abs(jnp.einsum("aqt,bqt->abt", turns, turns))
    least = jnp.argmin(jnp.sum(jnp.arccos(jnp.clip(alike, 0.0, 1.0)), axis=0), axis=0)
    return jnp.take_along_axis(turns, least[None, None], axis=0)[0]
