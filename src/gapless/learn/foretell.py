"""What is to be expected where neither parameters nor a start are known exactly: the middle of what may happen.

Where trajectories part quickly, one simulation from the likeliest values is no good guess of where joints will be; the median
over what may be true errs least.
"""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float, Int

from gapless.core import Belief, Log, Signals, Simulator, generator_for, key_for
from gapless.simulators import holds_of

DRAWS = 64


@dataclass(frozen=True)
class Question:
    """Stretches of logs: whose commands they follow, where joints start and how surely, and when they are asked for."""

    logs: list[Log]
    which: Int[np.ndarray, " stretch"]
    begin_s: Float[np.ndarray, " stretch"]
    start: Signals
    doubt: dict[str, float]
    """Deviation of each joint's position and velocity at the start."""
    times: Float[np.ndarray, "stretch query"]

    def __len__(self) -> int:
        return len(self.which)


def foretold(simulator: Simulator, belief: Belief, question: Question, draws: int = DRAWS, seed: int = 0) -> Signals:
    """The median of what would be measured, over draws from the belief and of the starts."""
    count, rng = len(question), generator_for(seed, "foretold", "starts")
    params = belief.sample(key_for(seed, "foretold", "params"), draws)
    start = {
        name: np.tile(values, (draws, 1)) + question.doubt.get(name, 0.0) * rng.standard_normal((draws * count, 1))
        for name, values in question.start.items()
    }
    holds = holds_of(question.logs, np.tile(question.which, draws), np.tile(question.begin_s, draws))
    seen = simulator.with_worlds(draws * count).play(
        {name: np.repeat(np.asarray(values, np.float64), count) for name, values in params.items()},
        start, holds, np.tile(question.times, (draws, 1)),
    )  # fmt: skip
    return {k: np.median(v.reshape(draws, count, *v.shape[1:]), axis=0) for k, v in jax.device_get(seen).items()}
