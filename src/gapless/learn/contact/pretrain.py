"""Practise on synthetic throws: one network for many realities, each with an embedding of its own."""

from dataclasses import dataclass, field
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gapless.core import Params
from gapless.nets.fitting import FitNetwork, Fitted, fit_network
from gapless.simulators.rigid.body import Body, parameters
from gapless.simulators.rigid.play import play
from gapless.simulators.rigid.teacher import draw_reality, throw

from .bent_law import EMBEDDING, BentLaw
from .identify import surface_error
from .scores import off
from .tosses import Tosses


@dataclass(frozen=True)
class Pretrain:
    """Practise on synthetic throws."""

    realities: int = 48
    """Cubes and floors with randomized parameters."""
    tosses: int = 16
    """Throws of each; the last quarter is held out."""
    samples: int = 48
    """Samples of each throw."""
    memory: float = 0.95
    """Share of a gradient that survives one sample."""
    network: FitNetwork = field(default_factory=lambda: FitNetwork(rate=1e-2, batch=256, steps=60, looks=6))


class Practice(NamedTuple):
    """Throws with what is known about the reality that they happened in."""

    tosses: Tosses
    which: Int[Array, " toss"]
    params: Params


class Pupil(eqx.Module):
    """The shared network, and what is special about each reality."""

    law: BentLaw
    embeddings: Float[Array, "reality embedding"]


def practice(body: Body, recipe: Pretrain, period_s: float, seed: int) -> tuple[Practice, Practice]:
    """Synthetic throws to learn from, and held out."""
    rng, half = np.random.default_rng(seed), float(body.corners.max())
    nominal = {p.name: p.nominal for p in parameters(body)}
    rows, which, params = [], [], []
    for k in range(recipe.realities):
        reality = draw_reality(half, rng)
        rows.append(throw(reality, recipe.tosses, recipe.samples, period_s, rng))
        which += [k] * recipe.tosses
        params += [nominal | reality.params] * recipe.tosses
    column = {n: jnp.asarray(np.concatenate([r[n] for r in rows]), jnp.float32) for n in rows[0]}
    lengths = jnp.full(len(which), recipe.samples)
    tosses = Tosses(
        column["position"], column["quaternion"], column["velocity"][:, 0], column["angular_velocity"][:, 0], lengths
    )
    whole = Practice(tosses, jnp.asarray(which), {n: jnp.asarray([p[n] for p in params], jnp.float32) for n in nominal})
    late = np.arange(len(which)) % recipe.tosses >= 3 * recipe.tosses // 4
    taught, held_out = (jax.tree.map(lambda x, r=r: x[r], whole) for r in (np.flatnonzero(~late), np.flatnonzero(late)))
    return taught, held_out


def pretrain(
    body: Body, begun: BentLaw, taught: Practice, held_out: Practice, recipe: Pretrain, period_s: float, key: PRNGKeyArray
) -> tuple[BentLaw, Fitted]:  # fmt: skip
    """The network that has seen many realities, with the embedding of a usual one."""

    def loss(pupil: Pupil, rows: Practice, key: PRNGKeyArray) -> Float[Array, ""]:
        told = pupil.embeddings[rows.which]
        bending = lambda touch: pupil.law(touch, body.reach_m, None, told.T)  # noqa: E731
        found = play(body, rows.params, rows.tosses.start, recipe.samples, period_s, bending, recipe.memory)
        missed = surface_error(off(found, rows.tosses.seen, rows.tosses.length), body)
        return jnp.mean(missed) + 1e-3 * jnp.mean(jnp.sum(told**2, axis=1))

    pupil = Pupil(begun, 0.1 * jax.random.normal(key, (recipe.realities, EMBEDDING)))
    found = fit_network(pupil, loss, taught, held_out, recipe.network, key)
    usual = jnp.mean(found.module.embeddings, axis=0)
    return eqx.tree_at(lambda law: law.embedding, found.module.law, usual), found
