"""What the equations leave out, as a block: small networks that begin at zero, are bounded and fade off the data."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, GaplessError, Parameter, Params, Signals

from .sight import Sight
from .units import Units, silent_units

MEMBER = "residual.member"
"""The parameter that says which member acts; a number that is nobody's means all of them, each with its share.

Members come in even numbers, so that the middle of them, which is the belief's mean, is nobody's."""
CLIP = 4.0
"""Numbers beyond this many deviations are taken for that many."""
Seen = dict[str, Float[Array, " number"]]
"""What each correction sees now."""


class Correction(eqx.Module):
    """One output of a residual: `<joint>.force`, `<command>.change`, `<joint>.velocity.change` or `<joint>.position.change`."""

    name: str = eqx.field(static=True)
    sight: Sight
    shift: Float[Array, " number"]
    scale: Float[Array, " number"]
    bound: Float[Array, ""]
    """The largest value it can take, in the output's unit."""
    centres: Float[Array, "centre present"]
    """Frames of the training data, as normal numbers, from which distances are taken."""
    reach: Float[Array, ""]
    """Distance to the nearest of them from which on the correction fades; at twice that, it is zero."""
    units: Units

    @property
    def members(self) -> int:
        return self.units.last.shape[0]

    def normal(self, seen: Float[Array, " number"]) -> Float[Array, " number"]:
        """What is seen in deviations of the training data."""
        return jnp.clip((seen - self.shift) * self.scale, -CLIP, CLIP)

    def nearness(self, normal: Float[Array, " number"]) -> Float[Array, ""]:
        """1 on the data, 0 far from it."""
        apart = ((self.centres - normal[: self.sight.present]) ** 2).sum(-1).min()
        return 1 - _smooth(jnp.sqrt(apart) / self.reach - 1)

    def values(self, normal: Float[Array, " number"]) -> Float[Array, " member"]:
        """What each member says."""
        return self.bound * self.nearness(normal) * jnp.tanh(self.units(normal))


class Residual(Block):
    """Corrections side by side; one member of each acts in a world, or the mean of all."""

    corrections: tuple[Correction, ...]
    heard: int = eqx.field(static=True, default=0)
    """Periods before its first step of which it wants to hear, where somebody knows them."""

    @property
    def members(self) -> int:
        return self.corrections[0].members

    @property
    def recalls(self) -> int:
        return self.heard

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What it reads beside the simulator's own."""
        last = self.members - 1.0
        return (Parameter(MEMBER, "", last / 2, 0.0, last, "actuation", free=False),)

    def init(self, key: PRNGKeyArray) -> Any:
        return {c.name: c.sight.fresh() for c in self.corrections}

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        memory, seen = self.see(memory, inputs, dt_s)
        return memory, self.say(params, seen)

    def see(self, memory: Any, inputs: Signals, dt_s: float) -> tuple[Any, Seen]:
        """What is remembered after this moment, and what each correction sees in it."""
        memory = {c.name: c.sight.look(memory[c.name], inputs, dt_s) for c in self.corrections}
        return memory, {c.name: c.sight.numbers(memory[c.name]) for c in self.corrections}

    def say(self, params: Params, seen: Seen) -> Signals:
        """What is added, given what is seen."""
        weights = member_weights(params[MEMBER], self.members)
        return {c.name: (weights @ c.values(c.normal(seen[c.name])))[None] for c in self.corrections}


def member_weights(member: Any, members: int) -> Float[Array, " member"]:
    """1 for the member that acts; where it is nobody, all have their share."""
    one = jnp.abs(jnp.arange(members) - member) < 0.25
    return jnp.where(one.any(), one.astype(jnp.float32), jnp.full(members, 1 / members))


def silent_correction(name: str, sight: Sight, members: int, units: int = 1) -> Correction:
    """A correction that says nothing yet."""
    if members < 2 or members % 2:
        raise GaplessError(f"an ensemble of {members} members is not possible; choose an even number of at least 2.")
    zeros, ones = jnp.zeros(sight.width), jnp.ones(sight.width)
    nothing = silent_units(sight.width, units, members)
    return Correction(name, sight, zeros, ones, jnp.ones(()), zeros[None, : sight.present], jnp.ones(()), nothing)


def _smooth(x: Float[Array, ""]) -> Float[Array, ""]:
    """0 below zero, 1 above one, smooth between."""
    x = jnp.clip(x, 0, 1)
    return x * x * (3 - 2 * x)
