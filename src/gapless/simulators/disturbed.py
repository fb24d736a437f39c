"""A simulator in whose episodes something goes wrong at set times, whichever simulator it is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Block, GaplessError, Holds, Params, Signals, Simulator
from gapless.core.disturbance import Disturbance, disturbed

from .mujoco_cpu import MujocoSimulator


class DisturbedState(NamedTuple):
    """The state of what is disturbed, with each world's clock."""

    inner: Any
    period: Any
    """Control periods since each world's start."""
    given: dict[str, Any]
    """The disturbed parameters as the episode began with them, each (world,)."""
    written: dict[str, Any]
    """The same as they are now."""


class Pushes(Block):
    """A residual with pushes beside it: forces on joints that come and go by the clock."""

    residual: Block | None
    pushes: tuple[Disturbance, ...] = eqx.field(static=True)

    @property
    def recalls(self) -> int:
        return 0 if self.residual is None else self.residual.recalls

    def init(self, key: PRNGKeyArray) -> Any:
        return {"inner": None if self.residual is None else self.residual.init(key), "count": jnp.zeros(())}

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> tuple[Any, Signals]:
        inner, out = memory["inner"], {}
        if self.residual is not None:
            inner, out = self.residual.step(params, inner, inputs, dt_s, key)
        for push in self.pushes:
            name = f"{push.of}.force"
            before = out.get(name, jnp.zeros_like(inputs[f"{push.of}.velocity"]))
            out = {**out, name: disturbed(before, (push,), memory["count"], dt_s, jnp)}
        return {"inner": inner, "count": memory["count"] + 1}, out


class Disturbed(Simulator):
    """n worlds of another simulator with disturbances in them. Commands are recorded as the policy sent them."""

    def __init__(self, inner: Simulator, disturbances: Sequence[Disturbance]) -> None:
        self.disturbances = tuple(disturbances)
        self._undisturbed = inner
        self.inner = _pushed(inner, tuple(d for d in disturbances if d.what == "force"))
        self.interface, self.parameters, self.worlds = inner.interface, inner.parameters, inner.worlds
        self.traceable, self.sensed, self.joints = inner.traceable, inner.sensed, inner.joints
        self._xp: Any = jnp if inner.traceable else np
        self._require_known()

    def with_worlds(self, worlds: int) -> Self:
        return type(self)(self._undisturbed.with_worlds(worlds), self.disturbances)

    def init(self) -> DisturbedState:
        nominal = {p.name: self._xp.full(self.worlds, p.nominal) for p in self.parameters if self._of("param", p.name)}
        return DisturbedState(self.inner.init(), self._xp.zeros(self.worlds), nominal, nominal)

    def reset(
        self, state: DisturbedState, where: Any, params: Params, start: Signals, key: PRNGKeyArray
    ) -> tuple[DisturbedState, Signals, Signals]:
        inner, seen, privileged = self.inner.reset(state.inner, where, params, start, key)
        xp, mask = self._xp, self._xp.asarray(where)
        fresh = {k: xp.where(mask, xp.asarray(params.get(k, old)), old) for k, old in state.given.items()}
        written = {k: xp.where(mask, fresh[k], old) for k, old in state.written.items()}
        state = DisturbedState(inner, xp.where(mask, 0.0, state.period), fresh, written)
        return state, self._read(seen, state.period), privileged

    def step(
        self, state: DisturbedState, command: Signals, key: PRNGKeyArray
    ) -> tuple[DisturbedState, Signals, Signals]:
        state = self._scheduled(state)
        sent = {k: self._made_of(self._xp.asarray(v), "command", k, state.period) for k, v in command.items()}
        inner, seen, privileged = self.inner.step(state.inner, sent, key)
        state = state._replace(inner=inner, period=state.period + 1)
        return state, self._read(seen, state.period), privileged

    def change(self, state: DisturbedState, params: Params) -> DisturbedState:
        given = {k: self._xp.asarray(params.get(k, old)) for k, old in state.given.items()}
        return state._replace(inner=self.inner.change(state.inner, params), given=given, written=given)

    def snapshot(self, state: DisturbedState) -> DisturbedState:
        return state._replace(inner=self.inner.snapshot(state.inner))

    def restore(self, snapshot: DisturbedState) -> DisturbedState:
        return snapshot._replace(inner=self.inner.restore(snapshot.inner))

    def play(self, params: Params, start: Signals, holds: Holds, times: Any) -> Signals:
        raise GaplessError("a disturbed simulator is stepped, not replayed. Replay the log in the simulator itself.")

    def _of(self, what: str, name: str) -> tuple[Disturbance, ...]:
        return tuple(d for d in self.disturbances if (d.what, d.of) == (what, name))

    def _read(self, seen: Signals, period: Any) -> Signals:
        return {k: self._made_of(v, "sensor", k, period) for k, v in seen.items()}

    def _made_of(self, values: Any, what: str, name: str, period: Any) -> Any:
        return disturbed(values, self._of(what, name), period, self.interface.period_s, self._xp)

    def _scheduled(self, state: DisturbedState) -> DisturbedState:
        """Parameters as they are now; a simulator stepped from Python is only told when they change."""
        now = {k: self._made_of(v, "param", k, state.period) for k, v in state.given.items()}
        if not now or (not self.traceable and all(np.array_equal(now[k], state.written[k]) for k in now)):
            return state
        return state._replace(inner=self.inner.change(state.inner, now), written=now)

    def _require_known(self) -> None:
        known = {
            "force": self.joints,
            "command": self.interface.command_names,
            "sensor": self.interface.measurement_names,
            "param": tuple(p.name for p in self.parameters),
        }
        for d in self.disturbances:
            if d.of not in known[d.what]:
                raise GaplessError(
                    f"a disturbance names the {d.what} {d.of!r}; the simulator has: {', '.join(known[d.what])}."
                )


def _pushed(inner: Simulator, pushes: tuple[Disturbance, ...]) -> Simulator:
    if not pushes:
        return inner
    if not isinstance(inner, MujocoSimulator):
        raise GaplessError(
            f"a force on {pushes[0].of!r} needs physics, and this simulator is a network. Disturb the command instead."
        )
    return inner.with_around(replace(inner.around, residual=Pushes(inner.around.residual, pushes)))
