"""What a network adds to the law of a corner: shared by all corners, blind to which one it is and to where north is."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.simulators.rigid.law import Bend
from gapless.simulators.rigid.touch import Touch
from gapless.simulators.rigid.vectors import cross, dot

FEATURES, EMBEDDING, HIDDEN, BENDS = 10, 4, 16, 3
LIMIT = 0.7
"""Largest bend: factors stay within a half and two."""
CALM = -3.0
"""Logarithm of the scatter before any is learned."""
PACE = 10.0
"""Logarithms of scatter are stored divided by this: they have farther to go than weights."""
NEAR_M = 0.005
"""Corners this close to the plane count as touching."""


class BentLaw(eqx.Module):
    """From a corner's touch, in its own contact frame, to how the law is bent there, and by how much that differs by chance."""

    layers: tuple[eqx.nn.Linear, ...]
    embedding: Float[Array, " embedding"]
    """What is special about this body and floor."""
    scatter: Float[Array, " bend"]
    """How much the same touch differs from time to time, before the network's say: logarithms over PACE."""

    def __init__(self, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 3)
        sizes = ((FEATURES + EMBEDDING, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 2 * BENDS))
        layers = [eqx.nn.Linear(*size, key=k) for size, k in zip(sizes, keys, strict=True)]
        layers[-1] = eqx.tree_at(lambda n: (n.weight, n.bias), layers[-1], replace_fn=jnp.zeros_like)
        self.layers = tuple(layers)
        self.embedding, self.scatter = jnp.zeros(EMBEDDING), jnp.full(BENDS, CALM / PACE)

    def __call__(self, touch: Touch, reach_m: float, chance: Bend | None, embedding: Array | None = None) -> Bend:
        """With chance, standard normal numbers, a draw; without, the middle."""
        told = self.embedding[:, None, None] if embedding is None else embedding[:, None, :]
        seen = features(touch, reach_m)
        x = jnp.concatenate([seen, jnp.broadcast_to(told, (EMBEDDING, *seen.shape[1:]))])
        for layer in self.layers[:-1]:
            x = jax.nn.silu(_apply(layer, x))
        middle, spread = jnp.split(_apply(self.layers[-1], x), 2)
        bend = LIMIT * jnp.tanh(middle)
        if chance is None:
            return bend
        return bend + jnp.exp(PACE * self.scatter[:, None, None] + jnp.tanh(spread)) * chance


def straight(law: BentLaw) -> BentLaw:
    """The law with nothing bent in the middle; what it knows of touches and of chance stays."""
    heads = lambda law: (law.layers[-1].weight, law.layers[-1].bias)  # noqa: E731
    weight, bias = heads(law)
    return eqx.tree_at(heads, law, (weight.at[..., :BENDS, :].set(0.0), bias.at[..., :BENDS].set(0.0)))


def features(touch: Touch, reach_m: float) -> Float[Array, "feature corner world"]:
    """A touch in its contact frame, each number about one in size."""
    aside = cross(touch.normal, touch.along)
    arms = [dot(touch.arm, axis) / reach_m for axis in (touch.normal, touch.along, aside)]
    near = jnp.sum(jax.nn.sigmoid((NEAR_M - touch.gap) / 1e-3), axis=0) / 4
    gap = jnp.clip(touch.gap / 0.01, -2.0, 4.0)
    near = jnp.broadcast_to(near, gap.shape)
    return jnp.stack(
        [gap, touch.rise, touch.slip, jnp.tanh(5 * touch.slip), touch.give / 4, touch.yields / 4, near, *arms]
    )


def _apply(layer: eqx.nn.Linear, x: Float[Array, "in corner world"]) -> Float[Array, "out corner world"]:
    assert layer.bias is not None
    return jnp.tensordot(layer.weight, x, axes=1) + layer.bias[:, None, None]
