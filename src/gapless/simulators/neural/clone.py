"""The network: a trunk that robots share, and for each robot small layers into and out of it; parameters modulate the trunk."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from .skeleton import Skeleton

CLIP = 6.0
"""Features beyond this many deviations are taken for that many."""


class Affine(eqx.Module):
    """x W + b over worlds."""

    weight: Float[Array, "into out"]
    bias: Float[Array, " out"]

    def __init__(self, into: int, out: int, key: PRNGKeyArray, gain: float = 1.0) -> None:
        self.weight = gain * jax.random.normal(key, (into, out)) / into**0.5
        self.bias = jnp.zeros(out)

    def __call__(self, x: Float[Array, "world into"]) -> Float[Array, "world out"]:
        # Graphics cards round products to ten bits here and are a quarter faster for it: after half a second that is 0.001, where
        # the clone itself is 0.02 off.
        return x @ self.weight + self.bias


class Trunk(eqx.Module):
    """What all robots share: layers of `width`, and what turns a robot and its parameters into their modulation."""

    layers: tuple[Affine, ...]
    mind: Affine
    modulate: Affine

    def __init__(self, key: PRNGKeyArray, width: int = 96, depth: int = 2, mind: int = 64) -> None:
        keys = jax.random.split(key, depth + 2)
        self.layers = tuple(Affine(width, width, k) for k in keys[:depth])
        self.mind = Affine(mind, mind, keys[-2])
        self.modulate = Affine(mind, 2 * width * depth, keys[-1], 0.1)

    @property
    def width(self) -> int:
        return self.layers[0].weight.shape[-1]


class Limb(eqx.Module):
    """What belongs to one robot: its embedding, its way into the trunk and out of it, and the scales of its motion."""

    embed: Affine
    """Parameters → mind; its bias is the robot's embedding."""
    enter: Affine
    leave: Affine
    shift: Float[Array, " feature"]
    scale: Float[Array, " feature"]
    change: Float[Array, " joint"]
    """Deviation of the change of speed over a period."""
    curve: Float[Array, " joint"]
    """Deviation of what a period moves beyond the mean of its first and last speed, over the period."""

    def __init__(self, trunk: Trunk, features: int, params: int, joints: int, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 3)
        self.embed = Affine(params, trunk.mind.weight.shape[0], keys[0])
        self.enter = Affine(features, trunk.width, keys[1])
        self.leave = Affine(trunk.width, 2 * joints, keys[2], 0.1)
        self.shift, self.scale = jnp.zeros(features), jnp.ones(features)
        self.change, self.curve = jnp.ones(joints), jnp.ones(joints)


class Clone(eqx.Module):
    """One robot's network."""

    trunk: Trunk
    limb: Limb

    def modulation(self, params: Float[Array, "world param"]) -> Float[Array, "world modulation"]:
        """What parameters, as shares of their range from −1 to 1, do to the trunk; the same for a whole episode."""
        mind = jax.nn.silu(self.limb.embed(params))
        return self.trunk.modulate(jax.nn.silu(self.trunk.mind(mind)))

    def advance(
        self, skeleton: Skeleton, modulation: Float[Array, "world modulation"], state: Any, control: Float[Array, "world 2c"]
    ) -> tuple[Float[Array, "world joint"], Float[Array, "world joint"]]:  # fmt: skip
        """Position and velocity one period later."""
        position, velocity = state
        limb, period_s = self.limb, skeleton.period_s
        told = jnp.concatenate([skeleton.features(position, velocity), control], axis=1)
        x = self._trunk(jnp.clip((told - limb.shift) * limb.scale, -CLIP, CLIP), modulation)
        change, curve = jnp.split(limb.leave(x), 2, axis=1)
        after = velocity + limb.change * change
        return position + period_s * ((velocity + after) / 2 + limb.curve * curve), after

    def _trunk(self, x: Float[Array, "world feature"], modulation: Array) -> Float[Array, "world width"]:
        parts = jnp.split(modulation, 2 * len(self.trunk.layers), axis=1)
        x = self.limb.enter(x)
        for layer, scale, shift in zip(self.trunk.layers, parts[::2], parts[1::2], strict=True):
            x = layer(jax.nn.silu(x * (1 + scale) + shift))
        return jax.nn.silu(x)


FROZEN = ("shift", "scale", "change", "curve")
"""Numbers of a limb that are measured and not fitted."""
