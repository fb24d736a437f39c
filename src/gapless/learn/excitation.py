"""Blocks that play a designed motion: by themselves, with a weak pull off the limits, or on top of a policy."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, Interface, Params, Signals, unstack

AHEAD_S = 0.15
"""How far ahead of the measured motion the pull looks: a spring alone would swing."""


class Excitation(Block):
    """Commands written beforehand, one row per period, and a weak pull that keeps limited channels off their limits.

    Its memory is the number of the row, the last measurement and the last command.
    """

    interface: Interface = eqx.field(static=True)
    rows: Float[Array, "period command"]
    pull: Float[Array, "command measurement"]
    middle: Float[Array, " measurement"]
    low: Float[Array, " command"]
    high: Float[Array, " command"]
    most: Float[Array, " command"]
    """Largest change of a command from one period to the next."""

    def init(self, key: PRNGKeyArray) -> tuple[Array, Array, Array]:
        return jnp.zeros((), jnp.int32), jnp.zeros(self.middle.shape), self.rows[0]

    def step(
        self, params: Params, memory: tuple[Array, Array, Array], inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[tuple[Array, Array, Array], Signals]:
        row, last, sent = memory
        seen = jnp.concatenate([inputs[name] for name in self.interface.measurement_names])
        ahead = seen + jnp.where(row > 0, AHEAD_S / self.interface.period_s, 0.0) * (seen - last)
        wanted = self.rows[jnp.minimum(row, len(self.rows) - 1)] - self.pull @ (ahead - self.middle)
        values = jnp.clip(jnp.clip(wanted, sent - self.most, sent + self.most), self.low, self.high)
        return (row + 1, seen, values), unstack(values, self.interface.command_widths)


class AroundPolicy(Block):
    """A policy whose commands are disturbed by a designed signal, so that the robot learns where the task takes it.

    Its memory is the number of the row, the policy's memory and the last command.
    """

    policy: Block
    interface: Interface = eqx.field(static=True)
    rows: Float[Array, "period command"]
    """What is added."""
    low: Float[Array, " command"]
    high: Float[Array, " command"]
    most: Float[Array, " command"]
    begin: Float[Array, " command"]
    """The command before the first: rest."""

    def init(self, key: PRNGKeyArray) -> tuple[Array, Any, Array]:
        return jnp.zeros((), jnp.int32), self.policy.init(key), self.begin

    def step(
        self, params: Params, memory: tuple[Array, Any, Array], inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[tuple[Array, Any, Array], Signals]:
        row, inner, sent = memory
        inner, command = self.policy.step(params, inner, inputs, dt_s, key)
        meant = jnp.concatenate([jnp.atleast_1d(command[name]) for name in self.interface.command_names])
        wanted = meant + self.rows[jnp.minimum(row, len(self.rows) - 1)]
        values = jnp.clip(jnp.clip(wanted, sent - self.most, sent + self.most), self.low, self.high)
        return (row + 1, inner, values), unstack(values, self.interface.command_widths)
