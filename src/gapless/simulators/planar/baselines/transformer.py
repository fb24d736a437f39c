"""An object transformer: each part is a token that knows its outline, its motion and its embedding, and looks at all others."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ..clone import Moving, Push, pushed
from ..matter import WIDTH
from ..scene import CORNERS, Scene, masses, outlines
from .moves import MOVES, in_turn, moved

HIDDEN, HEADS, LAYERS = 96, 4, 4
PAIR = 6
"""What is known of two parts: where the other is, how it moves, how far it is, and whether it is oneself."""


class Layer(eqx.Module):
    """Attention that knows where the other one is, and a network after it."""

    look: eqx.nn.Linear
    other: eqx.nn.MLP
    out: eqx.nn.Linear
    think: eqx.nn.MLP
    norms: tuple[eqx.nn.LayerNorm, eqx.nn.LayerNorm]

    def __init__(self, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 4)
        self.look = eqx.nn.Linear(HIDDEN, 3 * HIDDEN, key=keys[0])
        self.other = eqx.nn.MLP(PAIR, HEADS + HIDDEN, HIDDEN, 1, activation=jax.nn.silu, key=keys[1])
        self.out = eqx.nn.Linear(HIDDEN, HIDDEN, key=keys[2])
        self.think = eqx.nn.MLP(HIDDEN, HIDDEN, 2 * HIDDEN, 1, activation=jax.nn.silu, key=keys[3])
        self.norms = eqx.nn.LayerNorm(HIDDEN), eqx.nn.LayerNorm(HIDDEN)

    def __call__(
        self, token: Float[Array, "part hidden"], pair: Float[Array, "part part pair"], there: Bool[Array, " part"]
    ) -> Array:
        asked = jax.vmap(self.look)(jax.vmap(self.norms[0])(token)).reshape(len(token), 3, HEADS, -1)
        query, key, value = asked[:, 0], asked[:, 1], asked[:, 2]
        other = jax.vmap(jax.vmap(self.other))(pair)
        score = jnp.einsum("ihd,jhd->ijh", query, key) / jnp.sqrt(HIDDEN / HEADS) + other[..., :HEADS]
        share = jax.nn.softmax(jnp.where(there[None, :, None], score, -1e9), axis=1)
        told = jax.nn.silu(value[None] + other[..., HEADS:].reshape(len(token), *value.shape))
        heard = jnp.einsum("ijh,ijhd->ihd", share, told).reshape(len(token), HIDDEN)
        token = token + jax.vmap(self.out)(heard)
        return token + jax.vmap(self.think)(jax.vmap(self.norms[1])(token))


class ObjectTransformer(eqx.Module):
    """Tokens in, changes of motion out."""

    encode: eqx.nn.MLP
    layers: Layer
    """All of them as one, whose arrays lead with the layer."""
    decode: eqx.nn.MLP

    def __init__(self, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, LAYERS + 2)
        self.encode = eqx.nn.MLP(2 * CORNERS + WIDTH + 9, HIDDEN, HIDDEN, 1, activation=jax.nn.silu, key=keys[0])
        self.layers = eqx.filter_vmap(Layer)(keys[1:-1])
        self.decode = eqx.nn.MLP(HIDDEN, MOVES, HIDDEN, 1, activation=jax.nn.silu, key=keys[-1])

    def step(self, scene: Scene, moving: Moving, push: Push, dt_s: Float[Array, ""] | float) -> Moving:
        """One scene `dt_s` later."""
        motion, mass, owner = moving.motion, masses(scene), scene.owner
        heading = pushed(scene, mass, motion, push, dt_s)[owner]
        shapes = outlines(scene, motion)
        around = (shapes.corners - motion.position[owner][:, None]).reshape(len(owner), -1)
        plain = jnp.stack(
            [*heading.T, scene.free[owner], shapes.radius, mass.inverse[owner], mass.inverse_inertia[owner],
             *(jnp.full(len(owner), x) for x in (scene.table / 10, 30 * dt_s))], -1,
        )  # fmt: skip
        token = jax.vmap(self.encode)(jnp.concatenate([around, scene.z, plain], -1))
        gap = motion.position[owner][None] - motion.position[owner][:, None]
        slip = heading[None, :, :2] - heading[:, None, :2]
        far, self_ = jnp.sqrt(jnp.sum(gap**2, -1, keepdims=True) + 1e-9), jnp.eye(len(owner))[..., None]
        pair, there = jnp.concatenate([gap, slip, far, self_], -1), scene.count > 0
        token = in_turn(self.layers, lambda layer, token: layer(token, pair, there), token)
        bodies = scene.free.shape[0]
        mine = jax.ops.segment_sum(jnp.where(there[:, None], token, 0.0), owner, bodies)
        return moved(jax.vmap(self.decode)(mine), scene, moving, push, dt_s)
