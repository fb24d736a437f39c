"""One joint's way up the ladder: every rung fitted, all of them judged by held-out windows, the lowest good one taken."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gapless.core import GaplessError, Log
from gapless.simulators import MujocoSimulator
from gapless.simulators.driven import Driven

from .choose import Choice
from .climb_motion import fit_from_motion
from .climb_torque import fit_from_torque
from .fits import Climb, Fit, Tell, best
from .recorded import Windows, windows_of


@dataclass(frozen=True)
class Climbed:
    """Every rung, and which was taken."""

    fits: dict[str, Fit]
    choice: Choice
    size: float
    """What a model that predicts no change would miss by on average: the scale for the errors."""
    windows: tuple[int, int]
    """Learnt from, and held out."""

    @property
    def chosen(self) -> Fit:
        return self.fits[self.choice.rung]


def climb(
    simulator: MujocoSimulator, driven: Driven, logs: tuple[Sequence[Log], Sequence[Log]], recipe: Climb,
    seed: int, tell: Tell,
) -> Climbed:  # fmt: skip
    """The ladder of one joint, from logs to learn from and logs held out; from torque where it was measured."""
    training, held_out = logs
    learn = windows_of(simulator, driven, training, recipe.window_s, recipe.windows)
    judge = windows_of(simulator, driven, held_out, recipe.window_s, max(2, recipe.windows // 3))
    _require_several(learn, driven)
    _require_moving(learn, driven)
    fit = fit_from_motion if driven.torque is None else fit_from_torque
    fits = fit(driven, learn, judge, recipe, seed, tell)
    signal = judge.position - judge.position[:, :1] if driven.torque is None else judge.torque - judge.torque.mean()
    size = float(np.sqrt(np.mean(signal**2)))
    return Climbed(fits, best(fits, recipe.margin), size, (len(learn), len(judge)))


def _require_several(windows: Windows, driven: Driven) -> None:
    if len(windows) < 3:
        raise GaplessError(
            f"the logs hold {len(windows)} windows of {driven.joint} to learn its actuator from, and 3 are the fewest. "
            "Collect or import longer ones, or choose a shorter --climb.window-s."
        )


def _require_moving(windows: Windows, driven: Driven) -> None:
    still = [c for c, v in ((driven.command, windows.target), (driven.position, windows.position)) if not np.ptp(v) > 0]
    if still:
        raise GaplessError(
            f"{still[0]} never changes in the logs, so nothing can be learnt about the actuator of {driven.joint}. Collect "
            "logs in which it does, or name other joints with --joint."
        )
