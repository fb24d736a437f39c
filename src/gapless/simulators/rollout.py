"""A policy in a simulator, for whole episodes: the same logs that a robot would have written."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from gapless.core import Block, Log, Params, Signals, Simulator, Task, on_one_clock

from .changing import as_now, changed_params, changing
from .drive import Agent, Loop, Restart


class Episodes(NamedTuple):
    """n episodes side by side; rows after an episode's end repeat the simulator, not the task."""

    measurements: dict[str, Float[np.ndarray, "step world width"]]
    """What was read before each command."""
    commands: dict[str, Float[np.ndarray, "step world width"]]
    lengths: np.ndarray
    """Periods until the task was finished or the time was up."""
    returns: Float[np.ndarray, " world"]


class Rollout:
    """Episodes of one task in one simulator; keeps what it compiled, so that policies of one shape reuse it."""

    def __init__(self, simulator: Simulator, task: Task) -> None:
        self.simulator, self.task = changing(simulator, task), task
        self._loops: dict[Any, Loop] = {}

    def run(self, policy: Block, params: Params, key: PRNGKeyArray, start: Signals | None = None) -> Episodes:
        """One episode in each world, each with its row of params, from the task's own starts or the given ones."""
        keys = jax.random.split(key, 4)
        worlds = self.simulator.worlds
        arrays, static = eqx.partition(policy, eqx.is_array)
        loop = self._loop(static)
        start = self.task.start(keys[0], worlds) if start is None else start
        memory = eqx.filter_vmap(policy.init)(jax.random.split(keys[1], worlds))
        carry = {
            "memory": memory,
            "params": {k: jnp.broadcast_to(jnp.asarray(v), (worlds,)) for k, v in params.items()},
        }
        state, carry, last = loop.begin(arrays, carry, params, start, keys[2])
        steps = round(self.task.seconds / self.simulator.interface.period_s)
        _, _, last, records = loop.drive(arrays, state, carry, last, keys[3], steps)
        return _episodes(records, last, self.simulator.interface.period_s)

    def _loop(self, static: Any) -> Loop:
        shape = jax.tree.structure(static), tuple(jax.tree.leaves(static))
        found = [loop for known, loop in self._loops.items() if known == shape]
        if not found:
            self._loops[shape] = Loop(self.simulator, _agent(static, self.simulator, self.task))
        return self._loops[shape]


def rollout(simulator: Simulator, params: Params, policy: Block, task: Task, key: PRNGKeyArray) -> list[Log]:
    """One log per world, each ending where its task was finished."""
    return logs_of(Rollout(simulator, task).run(policy, params, key), simulator)


def logs_of(episodes: Episodes, simulator: Simulator) -> list[Log]:
    """Episodes as logs."""
    period_s = simulator.interface.period_s
    return [
        on_one_clock(
            simulator.interface,
            {k: v[:length, i] for k, v in episodes.commands.items()},
            {k: v[:length, i] for k, v in episodes.measurements.items()},
            np.arange(length) * period_s,
            {"simulated": True},
        )
        for i, length in enumerate(episodes.lengths)
    ]


def _agent(static: Any, simulator: Simulator, task: Task) -> Agent:
    worlds, period_s, changed = simulator.worlds, simulator.interface.period_s, changed_params(simulator)

    def look(weights: Any, carry: Any, seen: Signals, privileged: Signals, key: PRNGKeyArray) -> Any:
        record = {"reward": task.reward(carry["measurement"], carry["command"], seen), "finished": task.finished(seen)}
        return carry, Restart(jnp.zeros(worlds, bool), {}, {}), record

    def act(weights: Any, carry: Any, seen: Signals, privileged: Signals, fresh: Any, key: PRNGKeyArray) -> Any:
        policy = eqx.combine(weights, static)
        keys = jax.random.split(key, worlds)
        step = jax.vmap(policy.step, (0, 0, 0, None, 0))
        memory, command = step(as_now(carry["params"], privileged, changed), carry["memory"], seen, period_s, keys)
        record = {"measurement": seen, "command": command}
        return {**carry, "memory": memory, **record}, command, record

    return Agent(look, act)


def _episodes(records: Any, last: Any, period_s: float) -> Episodes:
    finished = np.asarray(records["finished"])
    ended = finished.any(axis=0)
    # The log of an episode holds one row more than it has transitions: the measurement that ended it.
    lengths = np.where(ended, finished.argmax(axis=0) + 2, len(finished) + 1)
    counted = np.arange(len(finished))[:, None] < lengths - 1
    returns = (np.asarray(records["reward"]) * counted).sum(axis=0) * period_s

    def rows(name: str, extra: Signals) -> dict[str, np.ndarray]:
        return {k: np.concatenate([np.asarray(v), np.asarray(extra[k])[None]]) for k, v in records[name].items()}

    measurements = rows("measurement", last["measurement"])
    return Episodes(measurements, rows("command", last["command"]), lengths, returns)
