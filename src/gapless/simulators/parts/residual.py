"""What the equations leave out, as a block: small networks that begin at zero, are bounded and fade off the data."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, GaplessError, Parameter, Params, Signals

from .sight import Sight

MEMBER = "residual.member"
"""The parameter that says which member acts; a number that is nobody's means all of them, each with its share.

Members come in even numbers, so that the middle of them, which is the belief's mean, is nobody's."""
CLIP = 4.0
"""Features beyond this many deviations are taken for that many."""


class Correction(eqx.Module):
    """One output of a residual: `<joint>.force`, `<command>.change`, `<joint>.velocity.change` or `<joint>.position.change`."""

    name: str = eqx.field(static=True)
    sight: Sight
    shift: Float[Array, " feature"]
    scale: Float[Array, " feature"]
    bound: Float[Array, ""]
    """The largest value it can take, in the output's unit."""
    centres: Float[Array, "centre present"]
    """Frames of the training data, as normal features, from which distances are taken."""
    reach: Float[Array, ""]
    """Distance to the nearest of them from which on the correction fades; at twice that, it is zero."""
    networks: eqx.nn.MLP
    """All members; every array leads with them."""

    @property
    def members(self) -> int:
        return self.networks.layers[-1].weight.shape[0]

    def normal(self, frames: Float[Array, "history channel"]) -> Float[Array, " feature"]:
        """Features in deviations of the training data."""
        return jnp.clip((self.sight.features(frames) - self.shift) * self.scale, -CLIP, CLIP)

    def nearness(self, normal: Float[Array, " feature"]) -> Float[Array, ""]:
        """1 on the data, 0 far from it."""
        apart = ((self.centres - normal[: self.sight.present]) ** 2).sum(-1).min()
        return 1 - _smooth(jnp.sqrt(apart) / self.reach - 1)

    def values(self, normal: Float[Array, " feature"]) -> Float[Array, " member"]:
        """What each member says."""
        arrays, static = eqx.partition(self.networks, eqx.is_array)
        raw = jax.vmap(lambda a: eqx.combine(a, static)(normal)[0])(arrays)
        return self.bound * self.nearness(normal) * jnp.tanh(raw)


class Residual(Block):
    """Corrections side by side; one member of each acts in a world, or the mean of all."""

    corrections: tuple[Correction, ...]

    @property
    def members(self) -> int:
        return self.corrections[0].members

    @property
    def recalls(self) -> int:
        """Periods before the present one that it remembers."""
        return max(c.sight.remembered for c in self.corrections) - 1

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What it reads beside the simulator's own."""
        last = self.members - 1.0
        return (Parameter(MEMBER, "", last / 2, 0.0, last, "actuation", free=False),)

    def init(self, key: PRNGKeyArray) -> Any:
        frames = {c.name: jnp.zeros((c.sight.remembered, len(c.sight.channels))) for c in self.corrections}
        return {"frames": frames, "begun": jnp.zeros((), bool)}

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        frames = self._see(memory, inputs)
        weights = member_weights(params[MEMBER], self.members)
        said = {c.name: (weights @ c.values(c.normal(frames[c.name])))[None] for c in self.corrections}
        return {"frames": frames, "begun": jnp.ones((), bool)}, said

    def _see(self, memory: Any, inputs: Signals) -> dict[str, Float[Array, "history channel"]]:
        """What each correction remembers, the present frame first."""
        frames = {}
        for c in self.corrections:
            now, past = c.sight.frame(inputs), memory["frames"][c.name]
            past = jnp.where(memory["begun"], past, c.sight.first(now))
            frames[c.name] = jnp.concatenate([now[None], past[:-1]])
        return frames


def member_weights(member: Any, members: int) -> Float[Array, " member"]:
    """1 for the member that acts; where it is nobody, all have their share."""
    one = jnp.abs(jnp.arange(members) - member) < 0.25
    return jnp.where(one.any(), one.astype(jnp.float32), jnp.full(members, 1 / members))


def silent_correction(name: str, sight: Sight, width: int, members: int, key: PRNGKeyArray) -> Correction:
    """A correction that says nothing yet: one hidden layer of `width` waves, and zero in the last."""

    def one(key: PRNGKeyArray) -> eqx.nn.MLP:
        made = eqx.nn.MLP(sight.width, 1, width, 1, activation=jnp.sin, key=key)
        return eqx.tree_at(lambda n: (n.layers[-1].weight, n.layers[-1].bias), made, replace_fn=jnp.zeros_like)

    if members < 2 or members % 2:
        raise GaplessError(f"an ensemble of {members} members is not possible; choose an even number of at least 2.")
    networks = eqx.filter_vmap(one)(jax.random.split(key, members))
    zeros, ones = jnp.zeros(sight.width), jnp.ones(sight.width)
    return Correction(name, sight, zeros, ones, jnp.ones(()), zeros[None, : sight.present], jnp.ones(()), networks)


def _smooth(x: Float[Array, ""]) -> Float[Array, ""]:
    """0 below zero, 1 above one, smooth between."""
    x = jnp.clip(x, 0, 1)
    return x * x * (3 - 2 * x)
