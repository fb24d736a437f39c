"""A simulator in whose episodes parameters change at random times, as a task says, whichever simulator it is."""

from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Change, GaplessError, Holds, Params, Signals, Simulator, Task, generator_from

EARLY = 0.01
"""Share of a period by which a clock that counts periods may be behind."""


class ChangingState(NamedTuple):
    """The state of what changes, with each world's clock and what will happen in it."""

    inner: Any
    period: Any
    """Control periods since each world's start."""
    at: Any
    """The period from which each change holds, as (world, change)."""
    to: Any
    """The value that each change brings, as (world, change)."""
    now: dict[str, Any]
    """The parameters that change, as they are now, each (world,)."""


class Changing(Simulator):
    """n worlds of another simulator. What changed is a privileged signal under its parameter's name, each (world, 1)."""

    def __init__(self, inner: Simulator, changes: tuple[Change, ...]) -> None:
        self.inner, self.changes = inner, changes
        self.interface, self.parameters, self.worlds = inner.interface, inner.parameters, inner.worlds
        self.traceable, self.sensed, self.joints = inner.traceable, inner.sensed, inner.joints
        self._xp: Any = jnp if inner.traceable else np
        nominal = {p.name: p.nominal for p in inner.parameters}
        for change in changes:
            if change.param not in nominal:
                raise GaplessError(
                    f"the task changes {change.param!r} within an episode, and the simulator has no such parameter (it has: "
                    f"{', '.join(nominal)}). Add it to params.toml."
                )
        self._nominal = {name: nominal[name] for name in changed_params(self)}

    def with_worlds(self, worlds: int) -> Self:
        return type(self)(self.inner.with_worlds(worlds), self.changes)

    def init(self) -> ChangingState:
        xp, shape = self._xp, (self.worlds, len(self.changes))
        now = {name: xp.full(self.worlds, value) for name, value in self._nominal.items()}
        return ChangingState(self.inner.init(), xp.zeros(self.worlds), xp.zeros(shape), xp.zeros(shape), now)

    def reset(
        self, state: ChangingState, where: Any, params: Params, start: Signals, key: PRNGKeyArray
    ) -> tuple[ChangingState, Signals, Signals]:
        xp = self._xp
        mask, begin = xp.asarray(where), {name: params.get(name, value) for name, value in self._nominal.items()}
        inner, seen, privileged = self.inner.reset(state.inner, where, {**params, **begin}, start, key)
        at, to = self._drawn(key)
        state = ChangingState(
            inner,
            xp.where(mask, 0.0, state.period),
            xp.where(mask[:, None], at, state.at),
            xp.where(mask[:, None], to, state.to),
            {name: xp.where(mask, xp.asarray(begin[name]), old) for name, old in state.now.items()},
        )
        return state, seen, self._told(state, privileged)

    def step(self, state: ChangingState, command: Signals, key: PRNGKeyArray) -> tuple[ChangingState, Signals, Signals]:
        state = self._changed(state)
        inner, seen, privileged = self.inner.step(state.inner, command, key)
        state = state._replace(inner=inner, period=state.period + 1)
        return state, seen, self._told(state, privileged)

    def change(self, state: ChangingState, params: Params) -> ChangingState:
        now = {name: self._xp.asarray(params.get(name, old)) for name, old in state.now.items()}
        return state._replace(inner=self.inner.change(state.inner, params), now=now)

    def snapshot(self, state: ChangingState) -> ChangingState:
        return state._replace(inner=self.inner.snapshot(state.inner))

    def restore(self, snapshot: ChangingState) -> ChangingState:
        return snapshot._replace(inner=self.inner.restore(snapshot.inner))

    def place(self, state: ChangingState, joints: Signals) -> ChangingState:
        return state._replace(inner=self.inner.place(state.inner, joints))

    def play(self, params: Params, start: Signals, holds: Holds, times: Any) -> Signals:
        raise GaplessError(
            "a simulator whose parameters change by chance is stepped, not replayed. Replay in its inner one."
        )

    def _drawn(self, key: Any) -> tuple[Any, Any]:
        """When each change comes and what it brings, in every world."""
        bounds = np.array([[c.from_s, c.to_s, c.low, c.high] for c in self.changes]).T
        shape = (2, self.worlds, len(self.changes))
        if self.traceable:
            chance = jax.random.uniform(jax.random.fold_in(key, 1), shape)
        else:
            chance = generator_from(key).spawn(1)[0].random(shape)
        at = bounds[0] + (bounds[1] - bounds[0]) * chance[0]
        return at / self.interface.period_s, bounds[2] + (bounds[3] - bounds[2]) * chance[1]

    def _changed(self, state: ChangingState) -> ChangingState:
        """Parameters as they are now; a simulator stepped from Python is only told when they change."""
        xp, now = self._xp, dict(state.now)
        begins = (state.period[:, None] >= state.at - EARLY) & (state.period[:, None] < state.at - EARLY + 1)
        if not self.traceable and not begins.any():
            return state
        for k, change in enumerate(self.changes):
            now[change.param] = xp.where(begins[:, k], state.to[:, k], now[change.param])
        return state._replace(inner=self.inner.change(state.inner, now), now=now)

    def _told(self, state: ChangingState, privileged: Signals) -> Signals:
        return {**privileged, **{name: values[:, None] for name, values in state.now.items()}}


def changing(simulator: Simulator, task: Task) -> Simulator:
    """The simulator as the task has it: with its changes in every episode, unless they happen there by themselves."""
    if not task.changes or simulator.changes_itself or isinstance(simulator, Changing):
        return simulator
    return Changing(simulator, task.changes)


def changed_params(simulator: Simulator) -> tuple[str, ...]:
    """The parameters that change within an episode, each once."""
    return tuple(dict.fromkeys(c.param for c in simulator.changes)) if isinstance(simulator, Changing) else ()


def as_now(params: Params, privileged: Signals, changed: tuple[str, ...]) -> Params:
    """The parameters of an episode as they are at this moment."""
    return {**params, **{name: jnp.asarray(privileged[name])[:, 0] for name in changed}}
