"""Numbers beyond their thresholds that only some of the logs ask for."""

import numpy as np

from gapless.learn.least_squares import Bounds
from gapless.learn.preflight.as_logged import SCALE
from gapless.learn.preflight.doubts import Family, beyond
from gapless.learn.preflight.steady import cautious
from gapless.learn.preflight.trial import Doubt, Fitted
from gapless.simulators import MujocoSimulator


def _found(pendulum: MujocoSimulator, *scales: float) -> bool:
    """Whether a motor whose gain differs so between parts of the logs is called wrong."""
    number = pendulum.interface.command_names[0] + SCALE
    one = np.ones(1)
    family = Family(pendulum, Doubt((number,), Bounds(one, one, 0.01 * one, 20 * one)), ({},))  # type: ignore[arg-type]
    fits = [Fitted((number,), np.array([s]), {}) for s in scales]
    return any(h.number == number for h in beyond(pendulum, cautious(fits, family)))


def test_the_same_gain_in_all_parts_is_a_wrong_convention(pendulum: MujocoSimulator) -> None:
    assert _found(pendulum, 0.42, 0.42, 0.40)
    assert _found(pendulum, 2.1, 2.3, 2.2)


def test_a_gain_that_every_motion_sees_otherwise_is_a_gap(pendulum: MujocoSimulator) -> None:
    assert not _found(pendulum, 0.24, 0.44, 0.59)
    assert not _found(pendulum, 1.5, 1.7, 2.9)


def test_the_mean_is_taken_back_by_its_standard_error_and_not_beyond_what_is_right(pendulum: MujocoSimulator) -> None:
    one = np.ones(2)
    family = Family(pendulum, Doubt(("a", "b"), Bounds(one, one, 0 * one, 9 * one)), ({},))  # type: ignore[arg-type]
    fits = [Fitted(("a", "b"), np.array([a, b]), {}) for a, b in ((1.0, 2.0), (1.2, 4.0), (0.8, 6.0))]
    found = cautious(fits, family)
    assert found["a"] == 1.0
    assert np.isclose(found["b"], 4.0 - 2.0 / np.sqrt(3))
