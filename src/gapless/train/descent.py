"""Passes over a batch in pieces: gradient steps, with a learning rate that follows the KL divergence (Rudin et al. 2022)."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

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
    """Which of `count` rows belong to each piece: every epoch has all of them, in an order of its own."""
    shuffled = jax.vmap(lambda k: jax.random.permutation(k, count))(jax.random.split(key, epochs))
    return shuffled.reshape(epochs * minibatches, -1)


def fading(taken: Float[Array, ""]) -> Float[Array, ""]:
    """What the learning rate is multiplied with after a share of the budget: it fades out over the second half."""
    return jnp.clip(2 * (1 - taken), 0.05, 1.0)


def descend(
    recipe: Paced,
    loss: Callable[[Any, Int[Array, " row"]], tuple[Any, Any]],
    trained: tuple[Any, ...],
    stride: Stride,
    pieces: Int[Array, "piece row"],
) -> tuple[tuple[Any, ...], dict[str, Any], Float[Array, ""]]:
    """What is trained after one step for each piece, the optimizer and rate after it, and the KL divergence of the last
    epoch; `loss` gives a piece's loss and its KL divergence from before."""
    arrays, static = eqx.partition(trained, eqx.is_array)
    slower = fading(stride.taken)

    def one(held: Any, piece: Any) -> Any:
        arrays, optimizer = held
        grads, kl = jax.grad(lambda a: loss(eqx.combine(a, static), piece), has_aux=True)(arrays)
        updated: tuple[Any, Any] = ADAM.update(grads, optimizer)
        changes, optimizer = updated
        moved = (jax.tree.map(lambda c, s=s: s * c, part) for part, s in zip(changes, stride.shares, strict=True))
        arrays = jax.tree.map(lambda a, c: a - slower * stride.rate * c, arrays, tuple(moved))
        return (arrays, optimizer), kl

    (arrays, optimizer), kl = jax.lax.scan(one, (arrays, stride.optimizer), pieces)
    last = kl[-recipe.minibatches :].mean()
    rate = jnp.where(last > 2 * recipe.kl_target, stride.rate / 1.5, stride.rate)
    rate = jnp.where(last < recipe.kl_target / 2, stride.rate * 1.2, rate)
    after = {"optimizer": optimizer, "rate": jnp.clip(rate, recipe.rate / 100, recipe.rate)}
    return eqx.combine(arrays, static), after, last
