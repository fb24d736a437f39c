"""Descent on pieces of what was collected: one step of Adam per piece, compiled as one scan."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

ADAM = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(eps=1e-5))


class Descending(NamedTuple):
    """A network and where its optimizer stands."""

    network: Any
    optimizer: Any


def descending(network: Any) -> Descending:
    """A network of which nothing has been learnt yet."""
    return Descending(network, ADAM.init(eqx.filter(network, eqx.is_inexact_array)))


def descend(
    now: Descending, loss: Callable[[Any, Any], Float[Array, ""]], pieces: Any, rate: Any
) -> tuple[Descending, Float[Array, " piece"]]:
    """The network after a step for each of the pieces, a pytree with a leading axis, and the losses before the steps."""
    arrays, static = eqx.partition(now.network, eqx.is_inexact_array)

    def one(held: Any, piece: Any) -> Any:
        arrays, optimizer = held
        found, grads = jax.value_and_grad(lambda a: loss(eqx.combine(a, static), piece))(arrays)
        changes, optimizer = ADAM.update(grads, optimizer)
        return (jax.tree.map(lambda a, c: a - rate * c, arrays, changes), optimizer), found

    (arrays, optimizer), losses = jax.lax.scan(one, (arrays, now.optimizer), pieces)
    return Descending(eqx.combine(arrays, static), optimizer), losses


def orders(count: int, passes: int, minibatches: int, key: PRNGKeyArray) -> Int[Array, "piece row"]:
    """Rows in a random order, cut into pieces, pass after pass."""
    shuffled = jax.vmap(lambda k: jax.random.permutation(k, count))(jax.random.split(key, passes))
    return shuffled.reshape(passes * minibatches, -1)


def fading(taken: Float[Array, ""]) -> Float[Array, ""]:
    """What the learning rate is multiplied with after a share of the budget: it fades over the second half."""
    return jnp.clip(2 * (1 - taken), 0.05, 1.0)
