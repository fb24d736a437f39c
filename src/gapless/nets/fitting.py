"""Fit networks to rows of data: Adam on minibatches, the best look on held-out rows kept, several members side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError

Module = TypeVar("Module", bound=eqx.Module)
Rows = Any
"""A pytree of arrays with one row per sample."""
Loss = Callable[[Any, Rows, PRNGKeyArray], Float[Array, ""]]


@dataclass(frozen=True)
class FitNetwork:
    """Fit a network."""

    rate: float = 3e-3
    """Learning rate at the start; it falls to a hundredth along a cosine."""
    batch: int = 256
    """Rows per step."""
    steps: int = 2000
    """Steps in all."""
    looks: int = 20
    """Looks at the held-out rows; the best of them is kept."""
    decay: float = 1e-4
    """Weight decay."""

    def __post_init__(self) -> None:
        if min(self.batch, self.steps, self.looks) < 1 or self.rate <= 0:
            raise GaplessError("fitting needs batch, steps and looks of at least 1 and a rate above 0.")


class Fitted(NamedTuple):
    """The network at its best look."""

    module: Any
    held_out: Float[Array, "*member"]
    """Its loss on the held-out rows; before the first step it is `before`."""
    before: Float[Array, "*member"]


def fit_network(
    module: eqx.Module, loss: Loss, rows: Rows, held_out: Rows, recipe: FitNetwork, key: PRNGKeyArray
) -> Fitted:
    """The module with the smallest held-out loss on the way; never worse than the one begun with."""
    arrays, static = eqx.partition(module, eqx.is_inexact_array)
    found, best, before = _fit(arrays, static, loss, rows, held_out, recipe, key)
    return Fitted(eqx.combine(found, static), best, before)


def fit_members(
    make: Callable[[PRNGKeyArray], Module], loss: Loss, rows: Rows, held_out: Rows, recipe: FitNetwork,
    members: int, key: PRNGKeyArray,
) -> Fitted:  # fmt: skip
    """Independent members: each its own first weights, its own resampled rows and its own order. Arrays lead with members."""
    keys = jax.random.split(key, (3, members))
    static = eqx.partition(make(keys[0, 0]), eqx.is_inexact_array)[1]
    begun = jax.vmap(lambda k: eqx.partition(make(k), eqx.is_inexact_array)[0])(keys[0])
    count = _count(rows)

    @jax.jit
    def one(arrays: Any, draw: PRNGKeyArray, order: PRNGKeyArray) -> Any:
        mine = jax.random.randint(draw, (count,), 0, count)
        return _fit(arrays, static, loss, jax.tree.map(lambda x: x[mine], rows), held_out, recipe, order)

    found, best, before = jax.lax.map(lambda held: one(*held), (begun, keys[1], keys[2]))
    return Fitted(eqx.combine(found, static), best, before)


def member(module: Module, which: int) -> Module:
    """One of the members that `fit_members` made."""
    return jax.tree.map(lambda x: x[which] if eqx.is_inexact_array(x) else x, module)


def _fit(
    arrays: Any, static: Any, loss: Loss, rows: Rows, held_out: Rows, recipe: FitNetwork, key: PRNGKeyArray
) -> Any:
    per_look = max(1, recipe.steps // recipe.looks)
    rate = optax.cosine_decay_schedule(recipe.rate, per_look * recipe.looks, 0.01)
    adam = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=recipe.decay))
    count, size = _count(rows), min(recipe.batch, _count(rows))

    def score(arrays: Any) -> Float[Array, ""]:
        return loss(eqx.combine(arrays, static), held_out, key)

    def step(held: Any, key: PRNGKeyArray) -> Any:
        arrays, memory = held
        chosen = jax.random.randint(key, (size,), 0, count)
        piece = jax.tree.map(lambda x: x[chosen], rows)
        grads = jax.grad(lambda a: loss(eqx.combine(a, static), piece, key))(arrays)
        changes, memory = adam.update(grads, memory, arrays)
        return (optax.apply_updates(arrays, changes), memory), None

    def look(held: Any, key: PRNGKeyArray) -> Any:
        arrays, memory, best, least = held
        (arrays, memory), _ = jax.lax.scan(step, (arrays, memory), jax.random.split(key, per_look))
        now = score(arrays)
        better = now < least
        best = jax.tree.map(lambda a, b: jnp.where(better, a, b), arrays, best)
        return (arrays, memory, best, jnp.where(better, now, least)), None

    @jax.jit
    def run(arrays: Any, key: PRNGKeyArray) -> Any:
        before = score(arrays)
        held = (arrays, adam.init(arrays), arrays, before)
        (_, _, best, least), _ = jax.lax.scan(look, held, jax.random.split(key, recipe.looks))
        return best, least, before

    return run(arrays, key)


def _count(rows: Rows) -> int:
    return len(jax.tree.leaves(rows)[0])
