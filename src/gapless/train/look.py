"""What a policy is worth: episodes in a simulator over a belief."""

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Belief, Simulator, Task
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import Rollout, logs_of


class Look:
    """Evaluations with the same draws and starts every time, so that policies are compared and not dice."""

    def __init__(self, simulator: Simulator, belief: Belief, task: Task, worlds: int, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key)
        self.task, self.key = task, keys[1]
        self.rollout = Rollout(simulator.with_worlds(worlds), task)
        self.params = {k: np.asarray(v, np.float64) for k, v in belief.sample(keys[0], worlds).items()}

    def at(self, policy: SeeingPolicy) -> tuple[float, float]:
        """Mean return, and the share of episodes that pass."""
        episodes = self.rollout.run(policy, self.params, self.key)
        verdicts = [self.task.judge(log).passed for log in logs_of(episodes, self.rollout.simulator)]
        return float(episodes.returns.mean()), float(np.mean(verdicts))
