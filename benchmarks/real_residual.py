"""A learned part on real recordings: forces beside the fitted physics, kept where held-out stretches are predicted better."""

from gapless.core import Belief, Chosen, Gaussian, Log
from gapless.learn import Identified, LearnResidual, learn_residual, sensor_noise, with_residual
from gapless.logs import Parted
from gapless.simulators import MujocoSimulator
from gapless.simulators.parts import MEMBER

RECIPE = LearnResidual(windows=60, rounds=1)
HELD_OUT = 4
"""One in so many stretches is not learned from, and decides."""


def beside(
    simulator: MujocoSimulator, prior: Gaussian, belief: Gaussian, stretches: list[Log], seed: int
) -> tuple[MujocoSimulator, Belief, str]:
    """The simulator with or without the learned forces, the belief about it, and what the held-out stretches said."""
    held_out = stretches[HELD_OUT - 1 :: HELD_OUT]
    train = [log for k, log in enumerate(stretches) if k % HELD_OUT != HELD_OUT - 1]
    found = Identified(belief, float("inf"), 1.0, sensor_noise(train), 0, 0, "anchored")
    learnt = learn_residual(simulator, prior, found, Parted(train, held_out), RECIPE, seed)
    if learnt is None:
        return simulator, belief, "refused: held-out stretches are not predicted better"
    judged = learnt.held_out
    said = f"kept: held-out error {judged.before:.3g} → {judged.after:.3g} deviations"
    known = Chosen(learnt.identified.belief, MEMBER, learnt.residual.members)
    return with_residual(simulator, learnt.residual), known, said
