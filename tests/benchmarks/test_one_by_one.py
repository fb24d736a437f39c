"""A policy that is asked for one world after the other meets the same episodes as one that is asked for all at once."""

import sys
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from gapless.core import Block, Interface, Params, Signals, unstack
from gapless.engine import new_workspace
from gapless.simulators import JaxCartpole, Rollout
from one_by_one import one_by_one


class Shove(Block):
    """Pushes to one side, more or less as the pole hangs, until the rail ends."""

    interface: Interface = eqx.field(static=True)

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> tuple[Any, Signals]:
        return memory, unstack(6.0 + 4.0 * jnp.sin(inputs["pole.angle"]), self.interface.command_widths)


def test_worlds_that_end_at_different_times_are_the_rollouts_own(tmp_path: Path) -> None:
    workspace = new_workspace(tmp_path / "workspace", "cartpole", "swingup", 0)
    task, interface = workspace.task, workspace.interface
    silent = [p for p in workspace.parameters if not p.name.endswith(".noise")]
    simulator, policy = JaxCartpole(interface, tuple(silent), 5).with_worlds(3), Shove(interface)
    starts, key = task.start(jax.random.key(1), 3), jax.random.key(2)
    episodes = Rollout(simulator, task).run(policy, {}, key, starts)
    logs = one_by_one(simulator, policy, task, starts, key)
    assert [len(log) for log in logs] == episodes.lengths.tolist()
    assert len(logs[0]) < round(task.seconds / interface.period_s)
    np.testing.assert_allclose([task.score(log) for log in logs], episodes.returns, atol=1e-3)
