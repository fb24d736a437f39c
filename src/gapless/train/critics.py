"""Two critics of a command, each a distribution over returns, and how they learn from what is remembered.

The network is normalised between its layers (Ba et al. 2016), without which critics that are asked more often than worlds are
stepped believe in commands that nobody has tried.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .distributional import cross_entropy, mean, projected


class Critic(eqx.Module):
    """What is known and a command → logits of the return's distribution."""

    layers: tuple[eqx.nn.Linear, ...]
    calm: tuple[eqx.nn.LayerNorm, ...]
    out: eqx.nn.Linear

    def __init__(self, sizes: tuple[int, int], hidden: tuple[int, int], key: PRNGKeyArray) -> None:
        keys, (width, depth) = jax.random.split(key, hidden[1] + 1), hidden
        widths = (sizes[0], *[width] * depth)
        self.layers = tuple(eqx.nn.Linear(widths[k], width, key=keys[k]) for k in range(depth))
        self.calm = tuple(eqx.nn.LayerNorm(width) for _ in range(depth))
        self.out = eqx.nn.Linear(width, sizes[1], key=keys[-1])

    def __call__(
        self, known: Float[Array, "*row known"], unit: Float[Array, "*row command"]
    ) -> Float[Array, "*row atom"]:
        x = jnp.concatenate([known, unit], axis=-1)
        for layer, calm in zip(self.layers, self.calm, strict=True):
            x = jax.nn.silu(_calmed(calm, _answered(layer, x)))
        return _answered(self.out, x)


def _answered(layer: Any, x: Float[Array, "*row into"]) -> Float[Array, "*row out"]:
    return x @ layer.weight.T + layer.bias


def _calmed(calm: Any, x: Float[Array, "*row width"]) -> Float[Array, "*row width"]:
    about = x - x.mean(-1, keepdims=True)
    return about * jax.lax.rsqrt((about**2).mean(-1, keepdims=True) + calm.eps) * calm.weight + calm.bias


class Ahead(NamedTuple):
    """What is expected of some transitions."""

    gained: Float[Array, " row"]
    weight: Float[Array, " row"]
    """What the value after it counts."""
    known: Float[Array, "row known"]
    unit: Float[Array, "row command"]
    """The command that comes after it."""
    bonus: Float[Array, " row"]
    """Added to the value after it."""


def new_critics(sizes: tuple[int, int], hidden: tuple[int, int], key: PRNGKeyArray) -> Critic:
    """Two untrained ones as one, whose arrays lead with the critic."""
    return eqx.filter_vmap(lambda k: Critic(sizes, hidden, k))(jax.random.split(key))


def logits(critics: Critic, known: Float[Array, "row known"], unit: Any) -> Float[Array, "critic row atom"]:
    """What each says about each row."""
    return eqx.filter_vmap(lambda critic: critic(known, unit))(critics)


def judged(
    critics: Critic, known: Any, unit: Any, at: Float[Array, " atom"], pessimistic: bool
) -> Float[Array, " row"]:
    """The value of commands: the lower of both expectations, or their mean."""
    values = mean(logits(critics, known, unit), at)
    return values.min(0) if pessimistic else values.mean(0)


def targets(
    slow: Critic, ahead: Ahead, at: Float[Array, " atom"], pessimistic: bool
) -> Float[Array, "critic row atom"]:
    """The distribution that each should foresee: that of the slow critic with the lower expectation, or each its own."""
    said = logits(slow, ahead.known, ahead.unit)
    places = ahead.gained[:, None] + ahead.weight[:, None] * (at + ahead.bonus[:, None])
    if pessimistic:
        low, high = mean(said, at)
        lower = projected(jax.nn.softmax(jnp.where((low <= high)[:, None], *said)), places, (at[0], at[-1]))
        return jnp.broadcast_to(lower, said.shape)
    return jax.vmap(lambda p: projected(p, places, (at[0], at[-1])))(jax.nn.softmax(said))


def critics_loss(critics: Critic, known: Any, unit: Any, target: Float[Array, "critic row atom"]) -> Float[Array, ""]:
    """How badly both foresee their targets, in nats."""
    return cross_entropy(target, logits(critics, known, unit)).mean(1).sum()


def followed_by(slow: Any, fast: Any, share: float) -> Any:
    """The slow arrays a share of the way nearer to the fast ones."""
    return jax.tree.map(lambda s, f: s + share * (f - s), slow, fast)
