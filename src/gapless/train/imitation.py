"""Learning to answer as somebody else does: one step of Adam per piece of what was collected, compiled as one scan."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import optax
from jaxtyping import Array, Float

STEPS = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(eps=1e-5))


class Descending(NamedTuple):
    """A network and where its optimizer stands."""

    network: Any
    optimizer: Any


def descending(network: Any) -> Descending:
    """A network of which nothing has been learnt yet."""
    return Descending(network, STEPS.init(eqx.filter(network, eqx.is_inexact_array)))


def imitate(
    now: Descending, loss: Callable[[Any, Any], Float[Array, ""]], pieces: Any, rate: Any
) -> tuple[Descending, Float[Array, " piece"]]:
    """The network after a step for each of the pieces, a pytree with a leading axis, and the losses before the steps."""
    arrays, static = eqx.partition(now.network, eqx.is_inexact_array)

    def one(held: Any, piece: Any) -> Any:
        arrays, optimizer = held
        found, grads = jax.value_and_grad(lambda a: loss(eqx.combine(a, static), piece))(arrays)
        changes, optimizer = STEPS.update(grads, optimizer)
        return (jax.tree.map(lambda a, c: a - rate * c, arrays, changes), optimizer), found

    (arrays, optimizer), losses = jax.lax.scan(one, (arrays, now.optimizer), pieces)
    return Descending(eqx.combine(arrays, static), optimizer), losses
