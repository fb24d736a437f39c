"""What people send a robot to identify it: a chirp, a pseudo-random binary signal, random commands; each as loud as is safe."""

from typing import Literal

import jax.numpy as jnp
import numpy as np

from gapless.core import Gaussian, Interface, Simulator, key_for
from gapless.core.seeds import generator_for
from gapless.learn import Excitation, Excite
from gapless.learn.holding import pull_of, reach_of
from gapless.learn.trial import Trial

Usual = Literal["chirp", "prbs", "random"]
USUAL: tuple[Usual, ...] = ("chirp", "prbs", "random")
CHIRP_HZ, PRBS_S, RANDOM_S = (0.25, 3.0), 0.2, 0.2
"""Band of the chirp, which is that of the chosen motions, and how long the others hold a command."""
HALVINGS = 7


def usual_motion(
    kind: Usual, simulator: Simulator, belief: Gaussian, limits: Interface, seconds: float, recipe: Excite, seed: int
) -> Excitation:
    """The usual motion at the largest loudness inside the limits, by the margin and number of draws of a chosen one.

    Its pull is the weakest that a chosen motion may have: how firmly to hold is a part of what is chosen.
    """
    reach = reach_of(simulator, limits)
    trial = Trial(simulator, limits, reach)
    trial.pull, trial.middle = pull_of(simulator, limits, reach, recipe.share * recipe.pull, recipe.margin)
    times = np.arange(round(seconds / simulator.interface.period_s) + 1) * simulator.interface.period_s
    wave = _wave(kind, times, len(reach.rest), generator_for(seed, "usual", kind))
    wave = wave * np.minimum(times / 0.2, 1.0)[:, None]
    full = recipe.share * (reach.high - reach.low) / 2 * wave
    found = belief.sample(key_for(seed, "usual"), recipe.doubts)
    draws = {
        k: np.concatenate([[belief.centre[i]], np.asarray(found[k], np.float64)]) for i, k in enumerate(belief.names)
    }
    quiet, loud = 0.0, 1.0
    for k in range(HALVINGS):
        trying = loud if k == 0 else (quiet + loud) / 2
        usage = trial.usage(trial.run(draws, (reach.rest + trying * full)[None])).max()
        quiet, loud = (trying, loud) if usage <= recipe.margin else (quiet, trying)
        if quiet == 1.0:
            break
    parts = (reach.rest + quiet * full, trial.pull, trial.middle, reach.low, reach.high, reach.most)
    return Excitation(simulator.interface, *(jnp.asarray(v, jnp.float32) for v in parts))


def _wave(kind: Usual, times: np.ndarray, width: int, rng: np.random.Generator) -> np.ndarray:
    """Between −1 and 1, one column per command."""
    if kind == "chirp":
        slow, fast = CHIRP_HZ
        rise = np.log(fast / slow)
        turned = slow * times[-1] / rise * np.expm1(rise * times / times[-1])
        return np.sin(2 * np.pi * turned[:, None] + rng.uniform(0, 2 * np.pi, width))
    hold_s = PRBS_S if kind == "prbs" else RANDOM_S
    drawn = rng.uniform(-1, 1, (int(times[-1] / hold_s) + 1, width))
    return (np.sign(drawn) if kind == "prbs" else drawn)[(times / hold_s).astype(int)]
