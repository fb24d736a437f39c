"""What a policy's own episodes would teach about the parameters, worked out in simulation before the robot moves."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gapless.core import Block, Gaussian, Interface, Simulator
from gapless.simulators.quiet import quietly

from .excite import noise_of
from .holding import reach_of
from .teaching import Teaching
from .trial import Trial


class Lesson(NamedTuple):
    """What an episode is expected to teach."""

    now: dict[str, float]
    """Deviation of each parameter today."""
    after: dict[str, float]
    """Deviation that is expected after the episode."""


@quietly()
def lesson_of(
    simulator: Simulator, belief: Gaussian, limits: Interface, policy: Block, seconds: float, window_s: float,
    noise: Mapping[str, float] | None = None,
) -> Lesson:  # fmt: skip
    """What one episode of a policy teaches, as it goes at the belief's centre, had identification seen its windows.

    `noise` is each sensor's deviation where it is known; else it is guessed from how far the sensor moves.
    """
    trial = Trial(simulator, limits, reach_of(simulator, limits))
    trial.policy = policy
    periods = round(seconds / simulator.interface.period_s) + 1
    centre = {n: np.array([v]) for n, v in zip(belief.names, np.asarray(belief.centre, np.float64), strict=True)}
    course = trial.run(centre, np.zeros((1, periods, simulator.interface.command_width)))
    sensors = noise_of(belief, course) | {n: max(v, 1e-9) for n, v in (noise or {}).items()}
    return Lesson(*Teaching(simulator, belief, sensors, window_s).deviations(centre, course))
