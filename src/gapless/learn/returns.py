"""What each cause of a gap costs a policy: its return where families are as believed, against where they are nominal."""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float

from gapless.core import Belief, Block, Simulator, Task, key_for, nominal_belief
from gapless.simulators import Rollout

from .explain import Explained
from .shapley import shapley


@dataclass(frozen=True)
class Performance:
    """A policy at its task."""

    policy: Block
    task: Task
    episodes: int = 8
    """Starts from which every coalition of causes is tried, each with a draw of its own."""


def losses(
    simulator: Simulator, performance: Performance, belief: Belief, found: Explained, seed: int
) -> Float[np.ndarray, "player episode"]:
    """The return that is lost where each player's parameters go back to nominal, split fairly between the players.

    A policy that does better in the nominal world, because it was trained there, loses where they depart from it.
    """
    episodes = performance.episodes
    mixed = found.mixtures(found.draws[np.arange(episodes) % len(found.draws)])
    values = mixed.reshape(mixed.shape[0] * mixed.shape[1], len(found.names))
    params = found.steady(_others(simulator, belief, len(values)), values)
    key = key_for(seed, "attribution", "return")
    begin = performance.task.start(key, episodes)
    starts = {k: np.tile(np.asarray(v), (len(mixed), *[1] * (np.ndim(v) - 1))) for k, v in begin.items()}
    rollout = Rollout(simulator.with_worlds(len(values)), performance.task)
    returns = rollout.run(performance.policy, params, jax.random.fold_in(key, 1), starts).returns
    table = np.asarray(returns, np.float64).reshape(mixed.shape[:2])
    at_home_in_belief = table[-1].mean() >= table[0].mean()
    return shapley(table) * (1 if at_home_in_belief else -1)


def _others(simulator: Simulator, belief: Belief, worlds: int) -> dict[str, np.ndarray]:
    """Everything else as believed, the sensors' noise for one: it is no player and is the same in every world."""
    mean = nominal_belief(simulator.parameters).mean() | {
        n: v for n, v in belief.mean().items() if n.endswith(".noise")
    }
    return {k: np.full(worlds, float(np.asarray(v))) for k, v in mean.items()}
