"""Simulators that compile: the frame around any dynamics written in JAX, with latency, noise and masked resets."""

from abc import abstractmethod
from functools import partial
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gapless.core import GaplessError, Holds, Interface, Parameter, Params, Signals, Simulator, by_world, complete

from .latency import commands_remembered, hold_weights
from .sensing import Sensing
from .traced_state import put, refuse_strangers, sensed, sent, told


class TracedState(NamedTuple):
    """A pytree; every leaf has a leading world axis."""

    position: Float[Array, "world joint"]
    velocity: Float[Array, "world joint"]
    past: Float[Array, "world past command"]
    params: dict[str, Float[Array, " world"]]


class TraceableSimulator(Simulator):
    """Hinge and slide joints whose acceleration a subclass computes; stepped inside jit."""

    traceable = True

    def __init__(self, interface: Interface, parameters: tuple[Parameter, ...], substeps: int, worlds: int = 1) -> None:
        self.interface, self.parameters, self.substeps, self.worlds = interface, parameters, substeps, worlds
        longest = max((p.high for p in parameters if p.name == "command.latency"), default=0.0)
        # Semi-implicit Euler leads by half a substep; see latency.integrator_lead_s.
        self._lead_s = interface.period_s / substeps / 2 if longest else 0.0
        self._remembered = commands_remembered(longest + self._lead_s, interface.period_s)
        self._sensing = Sensing(interface, parameters)
        if self._sensing.longest_s > 0:
            raise GaplessError("traceable simulators have no measurement latency yet. Drop it, or use MuJoCo.")

    @staticmethod
    @abstractmethod
    def advance(
        params: Params, position: Float[Array, " joint"], velocity: Float[Array, " joint"],
        control: Float[Array, " command"], step_s: float,
    ) -> tuple[Float[Array, " joint"], Float[Array, " joint"]]:  # fmt: skip
        """Position and velocity of one world after one substep."""

    def with_worlds(self, worlds: int) -> Self:
        return type(self)(self.interface, self.parameters, self.substeps, worlds)

    def init(self) -> TracedState:
        zeros = jnp.zeros((self.worlds, len(self.joints)))
        past = jnp.zeros((self.worlds, self._remembered, self.interface.command_width))
        return TracedState(zeros, zeros, past, complete({}, self.parameters, self.worlds))

    def reset(
        self, state: TracedState, where: Any, params: Params, start: Signals, key: PRNGKeyArray
    ) -> tuple[TracedState, Signals, Signals]:
        unknown = set(params) - set(state.params)
        if unknown:
            raise GaplessError(f"the simulator has no parameter {sorted(unknown)[0]!r}. Add it to params.toml.")
        refuse_strangers(start, self.joints)
        fresh = state._replace(
            position=self._joint_rows(start, "position"),
            velocity=self._joint_rows(start, "velocity"),
            past=jnp.zeros_like(state.past),
            params=state.params | {k: jnp.broadcast_to(jnp.asarray(v), (self.worlds,)) for k, v in params.items()},
        )
        state = by_world(where, fresh, state)
        return state, *self._read(state, key)

    def step(self, state: TracedState, command: Signals, key: PRNGKeyArray) -> tuple[TracedState, Signals, Signals]:
        past = sent(self.interface, state.past, command)
        late_s = state.params.get("command.latency", jnp.zeros(self.worlds)) + self._lead_s
        weights = hold_weights(late_s, self.interface.period_s, self.substeps, self._remembered, jnp)
        control = weights @ past
        position, velocity = jax.vmap(self._substeps)(state.params, state.position, state.velocity, control)
        state = state._replace(position=position, velocity=velocity, past=past)
        return state, *self._read(state, key)

    def change(self, state: TracedState, params: Params) -> TracedState:
        return state._replace(params=state.params | {k: jnp.asarray(v, jnp.float32) for k, v in params.items()})

    def snapshot(self, state: TracedState) -> TracedState:
        return state

    def restore(self, snapshot: TracedState) -> TracedState:
        return snapshot

    def place(self, state: TracedState, joints: Signals) -> TracedState:
        return put(state, self.joints, joints)

    def play(self, params: Params, start: Signals, holds: Holds, times: Float[np.ndarray, "world query"]) -> Signals:
        worlds, step_s = len(times), self.interface.period_s / self.substeps
        steps = max(1, int(np.ceil(times.max() / step_s - 1e-9)))
        wanted = complete(params, self.parameters, worlds)
        latency = np.asarray(wanted.get("command.latency", np.zeros(worlds)), np.float64) + self._lead_s
        control = holds.averages(latency, steps, step_s)
        rows = [self._joint_rows(start, side, worlds) for side in ("position", "velocity")]
        trail = np.asarray(_trail(type(self), wanted, *rows, jnp.asarray(control, jnp.float32), step_s), np.float64)
        known = {k: np.asarray(v, np.float64) for k, v in wanted.items()}
        seen = self._sensing.read(
            known, np.stack([interpolated(t, times / step_s) for t in np.moveaxis(trail, -1, 0)], -1)
        )
        return {name: seen[..., k : k + 1] for k, name in enumerate(self.sensed)}

    def _substeps(self, params: Params, position: Any, velocity: Any, control: Any) -> Any:
        step_s = self.interface.period_s / self.substeps
        for k in range(self.substeps):
            position, velocity = self.advance(params, position, velocity, control[k], step_s)
        return position, velocity

    @classmethod
    def _sense(cls, position: Any, velocity: Any) -> Float[Array, " channel"]:
        sides = {"position": position, "velocity": velocity}
        return jnp.stack([sides[side][cls.joints.index(joint)] for joint, side in cls.sensed.values()])

    def _read(self, state: TracedState, key: PRNGKeyArray) -> tuple[Signals, Signals]:
        values = jax.vmap(self._sense)(state.position, state.velocity)
        return sensed(state.params, tuple(self.sensed), values, key), told(state, self.joints)

    def _joint_rows(self, start: Signals, side: str, worlds: int | None = None) -> Float[Array, "world joint"]:
        shape = (worlds or self.worlds, 1)
        rows = [jnp.broadcast_to(jnp.asarray(start.get(f"{j}.{side}", 0.0), jnp.float32), shape) for j in self.joints]
        return jnp.concatenate(rows, axis=1)


@partial(jax.jit, static_argnums=(0, 5))
def _trail(
    kind: type[TraceableSimulator], params: Params, position: Any, velocity: Any, control: Any, step_s: float
) -> Any:
    """Sensor values at every substep; compiled once per kind and shape, whichever copy of a simulator asks."""

    def one(p: Params, q: Any, v: Any, u: Any) -> Any:
        def body(state: Any, c: Any) -> Any:
            q, v = state
            state = kind.advance(p, q, v, c, step_s)
            return state, kind._sense(*state)

        _, after = jax.lax.scan(body, (q, v), u)
        return jnp.concatenate([kind._sense(q, v)[None], after])

    return jax.vmap(one)(params, position, velocity, control)


def interpolated(trail: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Values between the steps of a trail, (world, step), at each world's times in steps."""
    low = np.clip(at.astype(int), 0, trail.shape[1] - 2)
    worlds, share = np.arange(len(trail))[:, None], np.clip(at - low, 0, 1)
    return trail[worlds, low] * (1 - share) + trail[worlds, low + 1] * share
