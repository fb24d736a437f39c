"""One driver for simulators stepped from Python and for traceable ones; nobody above it can tell which it was."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Params, Signals, Simulator

from .passing import Passing

Carry = Any
Record = dict[str, Any]


class Restart(NamedTuple):
    """Which worlds begin anew, with which parameters and from where."""

    where: Any
    params: Params
    start: Signals


class Agent(NamedTuple):
    """What sits in the loop with a simulator: pure functions over all worlds. `weights` stay fixed during a drive."""

    look: Callable[[Any, Carry, Signals, Signals, PRNGKeyArray], tuple[Carry, Restart, Record]]
    """(weights, carry, measurement, privileged, key): what came of the last command, and which worlds end here."""
    act: Callable[[Any, Carry, Signals, Signals, Any, PRNGKeyArray], tuple[Carry, Signals, Record]]
    """(weights, carry, measurement, privileged, fresh, key): the next command; fresh worlds have just begun."""


class Loop:
    """A simulator with an agent in it; compiled once, driven as often as needed."""

    def __init__(self, simulator: Simulator, agent: Agent) -> None:
        self.simulator, self._agent = simulator, agent
        self._begin = Passing(agent.act)
        self._turn = Passing(self._look_and_act)
        self._traced = jax.jit(self._scan, static_argnames="steps")
        self._reset = jax.jit(simulator.reset) if simulator.traceable else simulator.reset

    def begin(
        self, weights: Any, carry: Carry, params: Params, start: Signals, key: PRNGKeyArray
    ) -> tuple[Any, Carry, Signals]:
        """All worlds at their start: the simulator's state, the carry, and the first command."""
        keys = jax.random.split(key, 2)
        everywhere = np.ones(self.simulator.worlds, bool)
        begun = self._reset(self.simulator.init(), everywhere, params, start, keys[0])
        state, seen, privileged = begun if self.simulator.traceable else _single(begun)
        carry, command, record = self._begin(weights, carry, seen, privileged, everywhere, keys[1])
        return state, carry, {"command": command, "acted": record, "measurement": seen}

    def drive(
        self, weights: Any, state: Any, carry: Carry, last: Any, key: PRNGKeyArray, steps: int
    ) -> tuple[Any, Carry, Any, Record]:
        """`steps` control periods. Record k holds what `act` and then `look` noted about period k, as (step, world, …)."""
        if self.simulator.traceable:
            return self._traced(weights, state, carry, last, key, steps=steps)
        return self._stepped(weights, state, carry, last, key, steps)

    def _look_and_act(self, weights: Any, carry: Carry, seen: Signals, privileged: Signals, keys: Any) -> Any:
        pair = jax.random.wrap_key_data(keys)
        looked, restart, outcome = self._agent.look(weights, carry, seen, privileged, pair[0])
        nobody = jnp.zeros(self.simulator.worlds, bool)
        acted, command, record = self._agent.act(weights, looked, seen, privileged, nobody, pair[1])
        return looked, restart, outcome, acted, command, record

    def _stepped(self, weights: Any, state: Any, carry: Carry, last: Any, key: PRNGKeyArray, steps: int) -> Any:
        # Keys are drawn at once and handed over as plain numbers: a split costs a dispatch.
        keys = np.asarray(jax.random.key_data(jax.random.split(key, (steps, 4))))
        turn, rows = self._turn.holding(weights), list[Record]()
        for k in range(steps):
            command = {name: np.asarray(v) for name, v in last["command"].items()}
            state, seen, privileged = _single(self.simulator.step(state, command, keys[k, 0]))
            looked, restart, outcome, carry, command, acted = turn(carry, seen, privileged, keys[k, 2:])
            rows.append({**last["acted"], **outcome})
            where = np.asarray(restart.where)
            if where.any():
                begun = self.simulator.reset(state, where, restart.params, restart.start, keys[k, 1])
                state, seen, privileged = _single(begun)
                again = jax.random.wrap_key_data(keys[k, 3])
                carry, command, acted = self._begin(weights, looked, seen, privileged, where, again)
            last = {"command": command, "acted": acted, "measurement": seen}
        return state, carry, last, _stacked(rows)

    def _scan(self, weights: Any, state: Any, carry: Carry, last: Any, key: PRNGKeyArray, steps: int) -> Any:
        def turn(held: Any, key: PRNGKeyArray) -> Any:
            state, carry, last = held
            keys = jax.random.split(key, 4)
            state, seen, privileged = self.simulator.step(state, last["command"], keys[0])
            carry, restart, outcome = self._agent.look(weights, carry, seen, privileged, keys[2])
            state, seen, privileged = self.simulator.reset(state, restart.where, restart.params, restart.start, keys[1])
            carry, command, acted = self._agent.act(weights, carry, seen, privileged, restart.where, keys[3])
            return (state, carry, {"command": command, "acted": acted, "measurement": seen}), {
                **last["acted"],
                **outcome,
            }

        (state, carry, last), records = jax.lax.scan(turn, (state, carry, last), jax.random.split(key, steps))
        return state, carry, last, records


def _single(stepped: tuple[Any, Signals, Signals]) -> tuple[Any, Signals, Signals]:
    """Signals as jit would read them: what is passed on uncompiled must not be more precise than what is compiled."""
    state, *signals = stepped
    seen, privileged = ({k: np.asarray(v, np.float32) for k, v in side.items()} for side in signals)
    return state, seen, privileged


def _stacked(rows: list[Record]) -> Record:
    flat = [jax.tree.leaves(row) for row in rows]
    leaves = [np.stack([np.asarray(row[i]) for row in flat]) for i in range(len(flat[0]))]
    return jax.tree.unflatten(jax.tree.structure(rows[0]), leaves)
