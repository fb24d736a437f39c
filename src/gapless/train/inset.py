"""Ends of an episode drawn in by what a simulator may be wrong: a policy that goes to the edge of what is simulated is off that
edge on the robot.

Robust planning tightens its constraints by the error of its predictions (Chisci et al. 2001); here the constraints are where a
task ends early. Rewards, lengths and verdicts stay as they are.
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, PRNGKeyArray

from gapless.core import Belief, Signals, Simulator, Task, WrappedTask

HALVINGS = 6
"""How often margins are halved that end an episode where it begins; those that still do are given up."""
TRIED = 64


class Inset(WrappedTask):
    """The task within, over as soon as some measurements, all moved one way or the other by their margins, would end it."""

    def __init__(self, task: Task, margins: Mapping[str, float]) -> None:
        super().__init__(task)
        self.margins = dict(margins)

    def finished(self, measurement: Signals) -> Bool[Array, " *world"]:
        found = self.task.finished(measurement)
        for way in (-1.0, 1.0):
            found = found | self.task.finished({k: v + way * self.margins.get(k, 0.0) for k, v in measurement.items()})
        return found


def inset(task: Task, margins: Mapping[str, float], simulator: Simulator, belief: Belief, key: PRNGKeyArray) -> Task:
    """The task with its ends drawn in by margins in the channels' units, as far as episodes can still begin."""
    keys = jax.random.split(key, 3)
    worlds = simulator.with_worlds(TRIED)
    params = {k: np.asarray(v, np.float64) for k, v in belief.sample(keys[0], TRIED).items()}
    everywhere = jnp.ones(TRIED, bool)
    _, begun, _ = worlds.reset(worlds.init(), everywhere, params, task.start(keys[1], TRIED), keys[2])
    for halved in range(HALVINGS):
        found = Inset(task, {name: margin / 2**halved for name, margin in margins.items()})
        if not bool(np.any(np.asarray(found.finished({k: jnp.asarray(v) for k, v in begun.items()})))):
            return found
    return task
