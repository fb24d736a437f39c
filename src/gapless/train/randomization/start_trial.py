"""How a policy fares from easy starts to the task's own, difficulty by difficulty."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Belief, Block, Simulator, Task
from gapless.simulators import Rollout, logs_of

from .curriculum import Curriculum
from .starts import GradedStarts

EPISODES = 4
"""Of each difficulty, after each look."""


class StartTrial:
    """Episodes from the middle of every difficulty; keeps what it compiled for the next batch."""

    def __init__(self, simulator: Simulator, task: Task, bins: int) -> None:
        self.difficulty = np.repeat((np.arange(bins) + 0.5) / bins, EPISODES)
        self.task, self._rollout = task, Rollout(simulator.with_worlds(len(self.difficulty)), task)

    def told(
        self, curriculum: Curriculum, starts: GradedStarts, belief: Belief, policy: Block, key: PRNGKeyArray
    ) -> Curriculum:
        """The curriculum after these episodes of a policy, with params from the belief."""
        keys, task = jax.random.split(key, 3), self.task
        drawn = belief.sample(keys[0], len(self.difficulty))
        begins = starts.at(task, jnp.asarray(self.difficulty), keys[1])
        episodes = self._rollout.run(policy, {k: np.asarray(v) for k, v in drawn.items()}, keys[2], begins)
        passed = [task.judge(log).passed for log in logs_of(episodes, self._rollout.simulator)]
        return curriculum.told(self.difficulty.tolist(), passed)
