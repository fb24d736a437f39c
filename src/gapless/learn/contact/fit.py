"""Fit throwers to recorded throws, several side by side, by the energy score: least where draws are spread as what happens is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gapless.nets.fitting import FitNetwork

from .folds import Rows
from .identify import surface_error
from .scores import energy
from .thrower import Thrower
from .tosses import Tosses


@dataclass(frozen=True)
class FitThrower:
    """Fit what is learned about a thrown body."""

    draws: int = 2
    """Samples of each throw in a step."""
    samples: int = 80
    """How much of a throw is looked at."""
    memory: float = 0.95
    """Share of a gradient that survives one sample."""
    prior: float = 0.02
    """Weight of staying where identification was, in throws."""
    network: FitNetwork = field(default_factory=lambda: FitNetwork(rate=1e-2, batch=64, steps=24, looks=4, decay=1e-3))


def fit_throwers(
    begun: Sequence[Thrower], tosses: Tosses, taught: Sequence[Rows], recipe: FitThrower, seed: int
) -> list[Thrower]:
    """At each look these throwers, each taught its own rows, as one whose arrays lead with who it is; the first is at the start.

    A step sees as many throws however few there are, so that one program serves all numbers of them.
    """
    network, short = recipe.network, tosses.first(recipe.samples)
    per_look = max(1, network.steps // network.looks)
    batches = _batches(taught, per_look * network.looks, network.batch, np.random.default_rng(seed))
    together = jax.tree.map(lambda *x: jnp.stack(x) if eqx.is_inexact_array(x[0]) else x[0], *begun)
    arrays = eqx.filter(_learned(together), eqx.is_inexact_array)
    held, looks = (arrays, jax.vmap(_adam(recipe).init)(arrays)), [together]
    counts = jnp.asarray([len(rows) for rows in taught], jnp.float32)
    for look, key in enumerate(jax.random.split(jax.random.key(seed), network.looks)):
        seen = short.some(batches[look * per_look : (look + 1) * per_look])
        held = _steps(together, held, seen, counts, recipe, key)
        looks.append(_having(together, held[0]))
    return looks


def _having(begun: Thrower, learned: Any) -> Thrower:
    """The thrower with these arrays in place of what it may learn."""
    static = eqx.filter(_learned(begun), eqx.is_inexact_array, inverse=True)
    return eqx.tree_at(_learned, begun, eqx.combine(learned, static))


def _learned(model: Thrower) -> tuple:
    return model.law, model.nudges, model.starts


def _adam(recipe: FitThrower) -> optax.GradientTransformation:
    rate = optax.cosine_decay_schedule(recipe.network.rate, recipe.network.steps, 0.01)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=recipe.network.decay))


def _batches(
    taught: Sequence[Rows], steps: int, size: int, rng: np.random.Generator
) -> Int[np.ndarray, "step who row"]:
    """Rows for each step: all of them in a new order, again and again."""

    def cycled(rows: Rows) -> np.ndarray:
        rounds = -(-steps * size // len(rows))
        return np.concatenate([rng.permutation(rows) for _ in range(rounds)])[: steps * size].reshape(steps, size)

    return np.stack([cycled(rows) for rows in taught], axis=1)


@eqx.filter_jit
def _steps(
    begun: Thrower, held: Any, seen: Tosses, counts: Float[Array, " who"], recipe: FitThrower, key: PRNGKeyArray
) -> Any:
    adam = _adam(recipe)

    def loss(
        learned: Any, begun: Thrower, tosses: Tosses, count: Float[Array, ""], key: PRNGKeyArray
    ) -> Float[Array, ""]:
        model = _having(begun, learned)
        cloud = model.cloud(tosses.start, tosses.samples, recipe.draws, key, recipe.memory)
        missed = jnp.mean(surface_error(energy(cloud, tosses.seen, tosses.length), model.body))
        return missed + recipe.prior * (jnp.sum(model.nudges**2) + jnp.sum(model.law.embedding**2)) / count

    def step(held: Any, now: tuple[Tosses, PRNGKeyArray]) -> tuple[Any, None]:
        learned, memory = held
        grads = eqx.filter_vmap(jax.grad(loss), in_axes=(0, eqx.if_array(0), 0, 0, None))(
            learned, begun, now[0], counts, now[1]
        )
        changes, memory = jax.vmap(adam.update)(grads, memory, learned)
        return (optax.apply_updates(learned, changes), memory), None

    return jax.lax.scan(step, held, (seen, jax.random.split(key, seen.length.shape[0])))[0]
