"""Delta actions: the changes of commands with which a simulator moves as the robot did.

Follows He et al. 2025 (ASAP) in what is learned, and departs in how: not by reinforcement learning with a reward for tracking,
but as any residual here, by regression through the simulator (`residual.py`), first on one step and then on rollouts. So it
is bounded, begins at zero, fades off the data, and is refused where it does not predict held-out logs better.
"""

from collections.abc import Callable

import numpy as np

from gapless.core import Belief, Gaussian, Simulator
from gapless.logs import Parted
from gapless.simulators import Around, MujocoSimulator

from .identify import Identified
from .noise import sensor_noise
from .residual import LearnResidual, Learnt, learn_residual

DELTA_ACTION = LearnResidual(kind="action", worth=0.0, refit=None)
"""How delta actions are learned: whatever the misfit, and with the parameters as they are."""


def learn_delta_action(
    simulator: MujocoSimulator,
    belief: Belief,
    logs: Parted,
    recipe: LearnResidual = DELTA_ACTION,
    seed: int = 0,
    tell: Callable[[str], None] = lambda message: None,
) -> Learnt | None:
    """The changes of commands learned from logs, or None where they would not predict those held out better.

    They act on the bare physics: corrections that were learned before explain the same motions, and give way to them.
    """
    bare = simulator.with_around(Around())
    known = plain_gaussian(bare, belief)
    found = Identified(known, np.inf, np.inf, sensor_noise(logs.training), 0, 0, "as believed")
    return learn_residual(bare, known, found, logs, recipe, seed, tell)


def plain_gaussian(simulator: Simulator, belief: Belief) -> Gaussian:
    """What a belief says of each of the simulator's parameters by itself."""
    ours = [p for p in simulator.parameters if p.name in belief.names]
    mean, deviation = belief.mean(), belief.deviation()
    centre, spread = (np.array([float(side[p.name]) for p in ours]) for side in (mean, deviation))
    low, high = (np.array([getattr(p, side) for p in ours], float) for side in ("low", "high"))
    floor = 1e-6 * np.maximum(high - low, 1e-9)
    return Gaussian(
        tuple(p.name for p in ours), np.clip(centre, low, high), np.diag(np.maximum(spread, floor) ** 2), low, high
    )
