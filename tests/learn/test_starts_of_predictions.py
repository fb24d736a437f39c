"""Foresight: starts are found from the prefix, whatever the parameters, and never driven off by a step that misleads."""

from collections.abc import Callable

import numpy as np

from gapless.core import Log
from gapless.learn.foresight import Foresight, _only
from gapless.learn.shooting import Shooting
from gapless.simulators import MujocoSimulator

NAMES = ("hinge.damping", "motor.gain", "command.latency")


def test_a_step_is_taken_only_where_it_brings_the_prefix_nearer(
    pendulum: MujocoSimulator, collect: Callable[..., list[Log]]
) -> None:
    """Under a motor thirty times too strong the reference's steps overshoot, and repeated they would run away."""
    foresight = Foresight(pendulum, collect(2), NAMES, {}, 12)
    foresight.refer(pendulum, np.array([0.05, 1.3, 0.021]))
    far = np.array([[0.05, 40.0, 0.06], [5.0, -20.0, 0.0]])
    early = foresight._prefix > 0
    first = Shooting(pendulum, _only(foresight.windows, early), NAMES, {})

    def misfit(starts: np.ndarray) -> np.ndarray:
        return ((first.residuals(far, starts) / foresight._level[early]) ** 2).sum(-1)

    before = misfit(np.tile(foresight._starts, (2, 1, 1)))
    after = misfit(foresight._starts_of(pendulum, far))
    assert (after <= before).all()
    assert (after < 0.9 * before).any()
