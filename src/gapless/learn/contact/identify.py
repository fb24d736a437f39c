"""Find the parameters of a thrown body: an evolution of guesses, each judged by whole throws from their first states."""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gapless.core import Parameter, Params
from gapless.simulators.rigid.body import Body
from gapless.simulators.rigid.play import play

from ..evolution import evolution
from .scores import Off, off
from .tosses import Tosses


@dataclass(frozen=True)
class IdentifyToss:
    """Identify what is thrown."""

    population: int = 14
    """Guesses in a generation."""
    generations: int = 100
    """Generations in all."""
    samples: int = 100
    """Samples of each throw that are looked at."""
    tosses: int = 96
    """Throws that a generation looks at, drawn anew each time."""
    prior: float = 0.01
    """Weight of the data sheet, in throws: a deviation of one costs as much as this share of a body in one throw."""


def surface_error(found: Off, body: Body) -> Float[Array, " toss"]:
    """How far a point of the surface is off, in units of the body's reach: one number of distance and angle."""
    return found.distance_m / body.reach_m + found.angle_rad


def tile(params: Params, worlds: int) -> Params:
    """One value for each world."""
    return {k: jnp.broadcast_to(jnp.asarray(v, jnp.float32), (worlds,)) for k, v in params.items()}


def identify_toss(
    body: Body,
    free: Sequence[Parameter],
    known: Params,
    tosses: Tosses,
    period_s: float,
    recipe: IdentifyToss,
    seed: int,
) -> Params:
    """The parameters whose throws come closest to the recorded ones, beginning from the data sheet."""
    centre, width = np.array([p.nominal for p in free]), np.array([p.high - p.low for p in free]) / 6
    box = [[(getattr(p, side) - p.nominal) / w for p, w in zip(free, width, strict=True)] for side in ("low", "high")]
    short = tosses.first(recipe.samples)
    search = evolution(box, recipe.population, recipe.generations, seed)
    rng, count = np.random.default_rng(seed), len(tosses.length)
    while not search.stop():
        asked = np.array(search.ask())
        some = short.some(np.sort(rng.permutation(count)[: recipe.tosses]))
        guesses = jnp.asarray((centre + asked * width).T, jnp.float32)
        named = {p.name: values for p, values in zip(free, guesses, strict=True)}
        costs = np.asarray(_errors(body, named, known, some, period_s))
        costs = costs + recipe.prior * np.sum(asked**2, axis=1) / (2 * count)
        search.tell(list(asked), np.where(np.isfinite(costs), costs, 1e3).tolist())
    best = centre + np.asarray(search.result.xfavorite) * width
    return known | {p.name: jnp.float32(v) for p, v in zip(free, best, strict=True)}


@eqx.filter_jit
def _errors(
    body: Body, guesses: dict[str, Float[Array, " guess"]], known: Params, tosses: Tosses, period_s: float
) -> Float[Array, " guess"]:
    """Mean error of each guess: all guesses and all throws are worlds of one simulation."""
    count, many = tosses.length.shape[0], len(next(iter(guesses.values())))
    params = tile(known, many * count) | {name: jnp.repeat(values, count) for name, values in guesses.items()}
    start, seen = jax.tree.map(lambda x: jnp.tile(x, many), (tosses.start, tosses.seen))
    found = play(body, params, start, tosses.samples, period_s)
    missed = surface_error(off(found, seen, jnp.tile(tosses.length, many)), body)
    return jnp.mean(missed.reshape(many, count), axis=1)
