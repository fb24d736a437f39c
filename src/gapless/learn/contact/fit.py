"""Fit a thrower to recorded throws by the energy score: least where what it draws is spread as what happens is."""

from dataclasses import dataclass, field

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.nets.fitting import FitNetwork, Fitted, fit_network

from .identify import surface_error
from .scores import energy
from .thrower import Thrower
from .tosses import Tosses


@dataclass(frozen=True)
class FitThrower:
    """Fit what is learned about a thrown body."""

    draws: int = 4
    """Samples of each throw in a step."""
    samples: int = 80
    """How much of a throw is looked at."""
    memory: float = 0.95
    """Share of a gradient that survives one sample."""
    prior: float = 0.02
    """Weight of staying where identification was, in throws."""
    network: FitNetwork = field(default_factory=lambda: FitNetwork(rate=1e-2, batch=128, steps=40, looks=8, decay=1e-3))


def fit_thrower(begun: Thrower, taught: Tosses, held_out: Tosses, recipe: FitThrower, key: PRNGKeyArray) -> Fitted:
    """The thrower that describes held-out throws best on the way; never worse than the one begun with."""
    count = taught.length.shape[0]

    def loss(learned: tuple, tosses: Tosses, key: PRNGKeyArray) -> Float[Array, ""]:
        model = eqx.tree_at(_learned, begun, learned)
        missed = jnp.mean(cloud_error(model, tosses, recipe, key))
        return missed + recipe.prior * (jnp.sum(model.nudges**2) + jnp.sum(model.law.embedding**2)) / count

    cut = [t.first(recipe.samples) for t in (taught, held_out)]
    found = fit_network(_learned(begun), loss, *cut, recipe.network, key)  # type: ignore[arg-type]
    return found._replace(module=eqx.tree_at(_learned, begun, found.module))


def _learned(model: Thrower) -> tuple:
    return model.law, model.nudges, model.starts


def cloud_error(model: Thrower, tosses: Tosses, recipe: FitThrower, key: PRNGKeyArray) -> Float[Array, " toss"]:
    """The energy score of each throw, in units of the body's reach."""
    cloud = model.cloud(tosses.start, tosses.samples, recipe.draws, key, recipe.memory)
    return surface_error(energy(cloud, tosses.seen, tosses.length), model.body)
