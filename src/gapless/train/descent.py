"""Passes over a batch in pieces: gradient steps, with a learning rate that follows the KL divergence (Rudin et al. 2022)."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .in_row import InRow

ADAM = optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam(eps=1e-5))


class Paced(Protocol):
    """What a recipe says about its passes."""

    @property
    def epochs(self) -> int: ...
    @property
    def minibatches(self) -> int: ...
    @property
    def rate(self) -> float: ...
    @property
    def kl_target(self) -> float: ...


class Stride(NamedTuple):
    """How fast what is trained may change."""

    optimizer: Any
    rate: Float[Array, ""]
    taken: Float[Array, ""]
    """Share of the budget learnt from so far; steps fade out over its second half."""
    shares: tuple[Any, ...]
    """One number for each part of what is trained: 0 where it is held, 1 where it moves."""


def orders(count: int, epochs: int, minibatches: int, key: PRNGKeyArray) -> Int[Array, "piece row"]:
    """Which of `count` rows belong to each piece: every epoch has all of them, in an order of its own.

    Sorting is dear. Rows are shuffled once, and each epoch walks round them from another place in other strides.
    """
    keys = jax.random.split(key, 3)
    shuffled = jnp.argsort(jax.random.bits(keys[0], (count,)))
    stride = jax.random.choice(keys[1], jnp.asarray(_strides(count)), (epochs, 1))
    begin = jax.random.randint(keys[2], (epochs, 1), 0, count)
    walked = (begin + stride * jnp.arange(count)) % count
    return shuffled[walked].reshape(epochs * minibatches, -1)


def _strides(count: int) -> Int[np.ndarray, " stride"]:
    """Steps that come by every one of `count` rows before they come back; none so long that a walk overflows."""
    lengths = np.arange(1, max(2, min(count, 2**30 // count)))
    return lengths[np.gcd(lengths, count) == 1]


def fading(taken: Float[Array, ""]) -> Float[Array, ""]:
    """What the learning rate is multiplied with after a share of the budget: it fades out over the second half."""
    return jnp.clip(2 * (1 - taken), 0.05, 1.0)


def descend(
    recipe: Paced,
    loss: Callable[[Any, Any], tuple[Any, Any]],
    trained: tuple[Any, ...],
    stride: Stride,
    rows: Any,
    pieces: Int[Array, "piece row"],
) -> tuple[tuple[Any, ...], dict[str, Any], Float[Array, ""]]:
    """What is trained after one step for each piece, the optimizer and rate after it, and the KL divergence of the last
    epoch; `loss` gives the loss of some rows and their KL divergence from before."""
    row = InRow(trained)
    sizes = (sum(x.size for x in jax.tree.leaves(eqx.filter(part, eqx.is_array))) for part in trained)
    shares = [jnp.full(size, share, float) for size, share in zip(sizes, stride.shares, strict=True)]
    pace = fading(stride.taken) * stride.rate * jnp.concatenate(shares)

    def one(held: Any, mine: Any) -> Any:
        flat, optimizer = held
        grads, kl = jax.grad(lambda x: loss(row.shaped(x), mine), has_aux=True)(flat)
        updated: tuple[Any, Any] = ADAM.update(grads, optimizer)
        return (flat - pace * updated[0], updated[1]), kl

    def epoch(held: Any, order: Any) -> Any:
        return jax.lax.scan(one, held, jax.tree.map(lambda x: x[order], rows))

    begun = row.flat(trained), row.flat(stride.optimizer)
    order = pieces.reshape(recipe.epochs, recipe.minibatches, -1)
    (flat, optimizer), kl = jax.lax.scan(epoch, begun, order)
    last = kl[-1].mean()
    rate = jnp.where(last > 2 * recipe.kl_target, stride.rate / 1.5, stride.rate)
    rate = jnp.where(last < recipe.kl_target / 2, stride.rate * 1.2, rate)
    after = {"optimizer": row.restored(optimizer, stride.optimizer)}
    after["rate"] = jnp.clip(rate, recipe.rate / 100, recipe.rate)
    return row.shaped(flat), after, last
