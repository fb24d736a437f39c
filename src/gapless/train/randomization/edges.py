"""How a policy fares on the edges of the ranges that it is trained over."""

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Block, Simulator, Task
from gapless.simulators import Rollout, logs_of

from .adaptive import Adaptive, Edge


class EdgeTrial:
    """Episodes of one task with parameters on the edges; keeps what it compiled for the next batch."""

    def __init__(self, simulator: Simulator, task: Task, edges: Sequence[Edge], episodes: int) -> None:
        self.edges = [edge for edge in edges for _ in range(episodes)]
        self._rollout = Rollout(simulator.with_worlds(len(self.edges)), task)

    def outcomes(self, ranges: Adaptive, policy: Block, key: PRNGKeyArray) -> dict[Edge, list[bool]]:
        """Which episodes passed, by the edge that they were on."""
        keys = jax.random.split(key)
        drawn = ranges.belief().sample(keys[0], len(self.edges))
        params = ranges.on_edges(drawn, self.edges)
        episodes = self._rollout.run(policy, {k: np.asarray(v) for k, v in params.items()}, keys[1])
        found: dict[Edge, list[bool]] = {edge: [] for edge in self.edges}
        for edge, log in zip(self.edges, logs_of(episodes, self._rollout.simulator), strict=True):
            found[edge].append(self._rollout.task.judge(log).passed)
        return found
