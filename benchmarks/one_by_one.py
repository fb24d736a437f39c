"""Episodes of a policy that cannot be traced, such as a planner over MuJoCo, side by side in worlds that can."""

from typing import Any

import jax
import numpy as np

from gapless.core import Block, Log, Signals, Simulator, Task, on_one_clock


def one_by_one(simulator: Simulator, policy: Block, task: Task, starts: Signals, key: Any) -> list[Log]:
    """One log per world: in each period all worlds step at once, and the policy decides for one after the other."""
    worlds, period_s, keys = simulator.worlds, simulator.interface.period_s, jax.random.split(key, 4)
    state, seen, _ = simulator.reset(simulator.init(), np.ones(worlds, bool), {}, starts, keys[0])
    step, memories = jax.jit(simulator.step), [policy.init(k) for k in jax.random.split(keys[1], worlds)]
    rows: list[list[tuple[Signals, Signals]]] = [[] for _ in range(worlds)]
    ended = np.zeros(worlds, bool)
    for k in range(round(task.seconds / period_s) + 1):
        seen = {name: np.asarray(v, np.float32) for name, v in seen.items()}
        for i, chance in enumerate(jax.random.split(jax.random.fold_in(keys[2], k), worlds)):
            if ended[i]:
                continue
            measured = {name: v[i] for name, v in seen.items()}
            memories[i], command = policy.step({}, memories[i], measured, period_s, chance)
            rows[i].append((measured, {name: np.asarray(v) for name, v in command.items()}))
            ended[i] = bool(task.finished(measured))
        if ended.all():
            break
        sent = {name: np.stack([row[-1][1][name] for row in rows]) for name in rows[0][-1][1]}
        state, seen, _ = step(state, sent, jax.random.fold_in(keys[3], k))
    return [_log(simulator, world, period_s) for world in rows]


def _log(simulator: Simulator, rows: list[tuple[Signals, Signals]], period_s: float) -> Log:
    measured, sent = ({name: np.stack([row[side][name] for row in rows]) for name in rows[0][side]} for side in (0, 1))
    times = np.arange(len(rows)) * period_s
    return on_one_clock(simulator.interface, sent, measured, times, {"simulated": True})
