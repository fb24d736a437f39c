"""SimOpt: what is randomized follows the robot's episodes, and the policy is trained further over it (Chebotar et al. 2019).

Each round, the policy runs on the robot and in simulated worlds drawn from the distribution, from where the robot began; the
distribution moves towards those worlds whose measurements come out alike, under a KL bound. As in the paper, measurements are
compared by L1 and L2 after a low pass over time. Departures: channels weigh by their own spread in place of hand-set weights,
the first distribution is the belief, and each round has one episode and not several.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray
from scipy.ndimage import gaussian_filter1d

from gapless.core import Gaussian, Log, Signals, Simulator
from gapless.nets.seeing import SeeingPolicy
from gapless.simulators import Rollout

from ..learning import Place
from ..train import train
from .adaptation import Adapter, Means, Tries
from .reps import moved
from .spread import spread


@dataclass(frozen=True)
class SimOpt(Adapter):
    """Move the randomization towards worlds in which the policy does what it did on the robot, and train on there."""

    word: ClassVar[str] = "simopt"

    episodes: int = 4
    """Episodes on the robot: each but the last moves the randomization, the last shows what came of it."""
    samples: int = 256
    """Simulated worlds that each episode is compared with."""
    limit: float = 1.0
    """KL divergence by which the distribution may change in a round."""
    absolute: float = 0.5
    """Weight of absolute differences beside squared ones."""
    smooth_s: float = 0.1
    """Deviation of the low pass over differences, so that a little late is not all wrong."""

    def prepared(self, place: Place, means: Means) -> SeeingPolicy:
        if means.in_place is not None:
            return means.in_place
        return train(*place[:3], means.recipe, means.key, means.along("first")).policy

    def tries(self, prepared: SeeingPolicy, place: Place, means: Means) -> Tries:
        policy, over, learnt = prepared, spread(place.simulator, place.belief), None
        rollout = Rollout(place.simulator.with_worlds(self.samples), place.task)
        for k in range(1, self.episodes):
            log = yield policy
            keys = jax.random.split(jax.random.fold_in(means.key, k))
            over = self.nearer(rollout, over, policy, log, keys[0])
            along = replace(means.along(f"round-{k}", policy), learnt=learnt)
            trained = train(place.simulator, over, place.task, means.again, keys[1], along)
            policy, learnt = trained.policy, trained.learnt
        yield policy
        return policy

    def nearer(self, rollout: Rollout, over: Gaussian, policy: SeeingPolicy, log: Log, key: PRNGKeyArray) -> Gaussian:
        """The distribution after one episode of this policy."""
        if len(log) < 2:  # the gate let nothing happen that could be compared
            return over
        keys = jax.random.split(key)
        params = {k: np.asarray(v, np.float64) for k, v in over.sample(keys[0], self.samples).items()}
        start = start_of(rollout.simulator, log)
        seen = rollout.run(policy, params, keys[1], start).measurements
        costs = self.discrepancy(seen, log.measurements, log.interface.period_s)
        return moved(over, np.stack([params[name] for name in over.names], axis=-1), costs, self.limit)

    def discrepancy(self, seen: Signals, real: Signals, period_s: float) -> Float[np.ndarray, " world"]:
        """How far each world's measurements are from the real ones, in their own spread."""
        whole = np.zeros(next(iter(seen.values())).shape[1])
        for name, values in real.items():
            rows = min(len(values), len(seen[name]))
            truth, simulated = values[:rows, None], np.asarray(seen[name], np.float64)[:rows]
            spreads = np.nanstd(np.concatenate([truth, simulated], axis=1), axis=(0, 1)) + 1e-9
            off = np.nan_to_num((simulated - truth) / spreads)  # what a robot did not measure says nothing
            off = gaussian_filter1d(off, self.smooth_s / period_s, axis=0, mode="nearest")
            whole += (self.absolute * np.abs(off) + off**2).mean(axis=(0, 2))
        return whole


def start_of(simulator: Simulator, log: Log) -> Signals:
    """Where all worlds begin so that their first measurements are those of a log; joints that nobody reads begin at rest."""
    sensed = {f"{joint}.{side}": log.measurements[name][0] for name, (joint, side) in simulator.sensed.items()}
    return {name: np.tile(value, (simulator.worlds, 1)) for name, value in sensed.items()}
