"""One episode of a policy that cannot be traced, such as a planner over MuJoCo, in one world of a simulator."""

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Block, Log, Params, Signals, Simulator, Task, on_one_clock


def episode(simulator: Simulator, params: Params, policy: Block, task: Task, key: PRNGKeyArray) -> Log:
    """The log of one episode from the task's own start, decided period by period as on a robot."""
    world, period_s, keys = simulator.with_worlds(1), simulator.interface.period_s, jax.random.split(key, 5)
    act = eqx.filter_jit(policy.step) if getattr(policy, "traceable", True) else policy.step
    step = jax.jit(world.step) if world.traceable else world.step
    start = {k: np.asarray(v) for k, v in task.start(keys[0], 1).items()}
    state, seen, _ = world.reset(world.init(), np.ones(1, bool), params, start, keys[1])
    memory, rows = policy.init(keys[2]), list[tuple[Signals, Signals]]()
    for k in range(round(task.seconds / period_s) + 1):
        measured = {name: np.asarray(v[0], np.float32) for name, v in seen.items()}
        memory, command = act({}, memory, measured, period_s, jax.random.fold_in(keys[3], k))
        rows.append((measured, {name: np.asarray(v) for name, v in command.items()}))
        if bool(task.finished(measured)):
            break
        sent = {name: v[None] for name, v in rows[-1][1].items()}
        state, seen, _ = step(state, sent, jax.random.fold_in(keys[4], k))
    columns = [{name: np.stack([row[side][name] for row in rows]) for name in rows[0][side]} for side in (0, 1)]
    return on_one_clock(
        simulator.interface, columns[1], columns[0], np.arange(len(rows)) * period_s, {"simulated": True}
    )
