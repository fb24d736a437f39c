"""Joints that move by themselves: an actuator, friction and a load each, traced whole, any number of windows at once.

For benches and arms whose load is known as a function of the positions. Every array leads with windows and ends with joints.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import Block, Parameter, Params, Signals

from .parts.friction import Friction
from .parts.history import spread

Load = Callable[[Params, Float[Array, "*window joint"]], Float[Array, "*window joint"]]
PLANT = (
    Parameter("command.latency", "s", 0.01, 1e-4, 0.08, "latency"),
    Parameter("joint.inertia", "kg m2", 0.01, 1e-4, 1.0, "inertia"),
)


class Pieces(NamedTuple):
    """Recorded windows on a uniform clock: where they start, what was commanded, what was seen."""

    position: Float[Array, "window joint"]
    velocity: Float[Array, "window joint"]
    inputs: Signals
    """Channel → (window, time, joint); "target" is the command, sampled and held.

    "before" holds the commands before the window, the newest last. What is known of each sample may come along:
    "inertia" and "load" are added to the joints' own, and "pull" is the load's change per unit of position away from the
    position "about" which it is known.
    """
    seen: Float[Array, "window time joint"]


class Joints(eqx.Module):
    """inertia · acceleration = actuator + load + friction, in semi-implicit steps."""

    actuator: Block
    friction: Friction | None
    load: Load = eqx.field(static=True)
    inertia: Load = eqx.field(static=True)
    period_s: float = eqx.field(static=True)
    substeps: int = eqx.field(static=True)
    remembered: int = eqx.field(static=True)
    """Commands that can still act, the newest included."""
    lead_s: float = eqx.field(static=True, default=0.0)
    """How far the integrator runs ahead of the motion: commands come later by as much, or latency would make up for it."""

    def play(self, params: Params, pieces: Pieces, key: PRNGKeyArray) -> Float[Array, "window time joint"]:
        """Positions at the samples, from the start on, under the commands alone."""
        return self.trace(params, pieces, key)["position"]

    def trace(self, params: Params, pieces: Pieces, key: PRNGKeyArray) -> Signals:
        """Position, velocity, torque and how far a network was trusted, at the samples."""
        weights = hold_weights(params["command.latency"] + self.lead_s, self.period_s, self.substeps, self.remembered)
        target = pieces.inputs["target"]
        # What came before the window, where it is not known, is the first command.
        before = pieces.inputs.get("before", target[:, :1])
        past = jnp.stack([_earlier(target, before, k) for k in range(self.remembered)], axis=-1)
        others = {k: v for k, v in pieces.inputs.items() if k not in ("target", "before")}
        rows = jax.tree.map(lambda x: jnp.moveaxis(x, 1, 0), (past, others))
        begun = (
            pieces.position,
            pieces.velocity,
            spread(self.actuator.init(key), pieces.position.shape),
            {"torque": jnp.zeros_like(pieces.position), "trusted": jnp.ones_like(pieces.position)},
        )

        def sample(state: Any, row: Any) -> Any:
            commands, others = row
            now = {"position": state[0], "velocity": state[1], **state[3]}
            for s in range(self.substeps):
                target = jnp.sum(weights[..., s, :] * commands, axis=-1)
                state = self._substep(params, state, others | {"target": target}, key)
            return state, now

        _, seen = jax.lax.scan(sample, begun, rows)
        return {k: jnp.moveaxis(v, 0, 1) for k, v in seen.items()}

    def _substep(self, params: Params, state: Any, inputs: Signals, key: PRNGKeyArray) -> Any:
        position, velocity, memory, _ = state
        dt_s = self.period_s / self.substeps
        seen = inputs | {"position": position, "velocity": velocity}
        memory, driven = self.actuator.step(params, memory, seen, dt_s, key)
        load = self.load(params, position) + inputs.get("load", 0.0)
        if "pull" in inputs:
            load = load + inputs["pull"] * (position - inputs["about"])
        seen |= driven | {"load": load, "inertia": self.inertia(params, position) + inputs.get("inertia", 0.0)}
        torque = seen["torque"] + seen["load"]
        if self.friction is not None:
            torque = torque + self.friction.step(params, None, seen, dt_s, key)[1]["friction"]
        velocity = jnp.clip(velocity + torque / seen["inertia"] * dt_s, -100, 100)
        said = {"torque": seen["torque"], "trusted": seen.get("trusted", jnp.ones_like(position))}
        return position + velocity * dt_s, velocity, memory, said


def hold_weights(
    latency_s: Float[Array, "*joint"], period_s: float, substeps: int, remembered: int
) -> Float[Array, "*joint substep past"]:
    """The share of each substep in which each remembered command (newest first) acts; rows sum to one, traceable."""
    step_s = period_s / substeps
    begin = jnp.arange(substeps) * step_s - latency_s[..., None]
    sent = -jnp.arange(remembered) * period_s
    until = jnp.append(1e9, sent[:-1])
    since = jnp.append(sent[:-1], -1e9)
    overlap = jnp.minimum(begin[..., None] + step_s, until) - jnp.maximum(begin[..., None], since)
    return jnp.clip(overlap, 0, step_s) / step_s


def _earlier(
    rows: Float[Array, "window time joint"], before: Float[Array, "window past joint"], by: int
) -> Float[Array, "window time joint"]:
    """Rows as they were `by` samples before; what came before everything known is the oldest."""
    known = min(by, before.shape[1])
    oldest = jnp.repeat(before[:, :1], by - known, axis=1)
    whole = jnp.concatenate([oldest, before[:, before.shape[1] - known :], rows], axis=1)
    return whole[:, : rows.shape[1]]
