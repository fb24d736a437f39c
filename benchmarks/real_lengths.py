"""How long the windows of a fit should be, as left-out training logs say: models that are a little wrong want short ones, noise
wants long ones."""

from dataclasses import replace

import numpy as np

from gapless.core import Log, prior_belief
from gapless.learn.anchored import Anchored, anchored, start_doubts
from gapless.simulators import MujocoSimulator
from real_scores import HORIZONS_S, Predictor, errors, pieces
from stretches import moving

LENGTHS_S = (0.2, 0.3, 0.4, 0.5, 0.8)
SCORED_S = 0.5
EVERY_S = 0.5


def with_best_length(simulator: MujocoSimulator, logs: list[Log], recipe: Anchored) -> tuple[Anchored, str]:
    """The recipe with the window length whose fits to every other log predict the logs between best; and what they were."""
    left = {seconds: _left_out(simulator, logs, replace(recipe, window_s=seconds)) for seconds in LENGTHS_S}
    best = min(left, key=lambda seconds: left[seconds])
    said = ", ".join(f"{seconds:g} s {error:.4f}" for seconds, error in left.items())
    return replace(recipe, window_s=best), f"windows of {best:g} s, by the left-out error {SCORED_S:g} s ahead: {said}"


def _left_out(simulator: MujocoSimulator, logs: list[Log], recipe: Anchored) -> float:
    """Median errors of two folds together, as the geometric mean over channels."""
    found = []
    for fold in (0, 1):
        seen, over = moving(logs[1 - fold :: 2], recipe.window_s), pieces(logs[fold::2], EVERY_S)
        belief = anchored(simulator, prior_belief(simulator.parameters), seen, recipe)
        doubt = {side: recipe.loose * value for side, value in start_doubts(simulator, seen).items()}
        off = errors(Predictor(simulator, belief, doubt), over, absolute=False)
        found.append(off[over.moves, HORIZONS_S.index(SCORED_S)])
    return float(np.exp(np.log(np.median(np.concatenate(found), axis=0)).mean()))
