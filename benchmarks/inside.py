"""The judge's view into a twin: its hidden physics as a simulator, to train oracles in. Nobody else may import this."""

from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from gapless.core import Holds, Signals, Simulator, by_world
from gapless.robots.reality import Reality


class Inside(Simulator):
    """n worlds of one reality, its own starts and noise included; it has no parameters, for nothing is unknown.

    Left alone, nobody changes anything around the robot, as in episodes that are to teach.
    """

    traceable = True
    changes_itself = True
    parameters = ()

    def __init__(self, reality: Reality, worlds: int = 1, alone: bool = False) -> None:
        self.reality, self.interface, self.worlds, self.alone = reality, reality.interface, worlds, alone
        self._hidden = jax.tree.map(lambda v: jnp.asarray(v, jnp.float32), reality.hidden)
        self._ticks = round(reality.interface.period_s / reality.tick_s)

    def with_worlds(self, worlds: int) -> Self:
        return type(self)(self.reality, worlds, self.alone)

    def init(self) -> Any:
        return jax.vmap(lambda k: self.reality.start(self._hidden, k))(jax.random.split(jax.random.key(0), self.worlds))

    def reset(self, state: Any, where: Any, params: Any, start: Signals, key: Any) -> Any:
        keys = jax.random.split(key, self.worlds)
        fresh = jax.vmap(lambda k: self.reality.start(self._hidden, k))(keys)
        if self.alone:
            fresh = jax.vmap(self.reality.undisturbed)(fresh)
        fresh = jax.vmap(self.reality.place)(fresh, {k: jnp.asarray(v) for k, v in start.items()})
        state = by_world(where, fresh, state)
        return state, *self._read(state, key)

    def step(self, state: Any, command: Signals, key: Any) -> Any:
        keys = jax.random.split(key, self.worlds)

        def one(state: Any, command: Signals, key: Any) -> Any:
            state = self.reality.send(self._hidden, state, command, key)
            return jax.lax.fori_loop(0, self._ticks, lambda _, s: self.reality.tick(self._hidden, s), state)

        state = jax.vmap(one)(state, command, keys)
        return state, *self._read(state, key)

    def snapshot(self, state: Any) -> Any:
        return state

    def restore(self, snapshot: Any) -> Any:
        return snapshot

    def play(self, params: Any, start: Signals, holds: Holds, times: np.ndarray) -> Signals:
        raise TypeError("a reality is not replayed: it answers commands, once")

    def _read(self, state: Any, key: Any) -> tuple[Signals, Signals]:
        keys = jax.random.split(key, self.worlds)
        seen = jax.vmap(lambda s, k: self.reality.measure(self._hidden, s, k))(state, keys)
        return seen, jax.vmap(self.reality.joint_states)(state)
