"""How joints moved before a start: as it was measured, ending where the world starts; else, they have always been there."""

import numpy as np

from gapless.core import Holds
from gapless.simulators.earlier import joints_before

TIMES = np.linspace(0.0, 2.0, 201)
SENSED = {"angle": ("hinge", "position")}
NOW = {"hinge.position": np.array([[0.7]]), "hinge.velocity": np.array([[1.0]])}


def holds(measured: bool = True) -> Holds:
    seen = [{"angle": (TIMES, 3.0 * TIMES)}] if measured else None
    return Holds([TIMES], [np.zeros((201, 1))], np.zeros(1, int), np.array([1.0]), seen)


def test_what_was_measured_ends_where_the_world_starts() -> None:
    found = joints_before(holds(), SENSED, NOW, 4, 0.1)
    np.testing.assert_allclose(found["hinge.position"][0, :, 0], 0.7 - 0.3 * np.arange(4, 0, -1))
    np.testing.assert_allclose(found["hinge.velocity"], 3.0)


def test_a_velocity_that_is_measured_is_not_differenced() -> None:
    with_rate = Holds(
        [TIMES],
        [np.zeros((201, 1))],
        np.zeros(1, int),
        np.array([1.0]),
        [{"angle": (TIMES, TIMES), "rate": (TIMES, TIMES + 5)}],
    )
    found = joints_before(with_rate, SENSED | {"rate": ("hinge", "velocity")}, NOW, 2, 0.1)
    np.testing.assert_allclose(found["hinge.velocity"][0, :, 0], [0.8, 0.9])


def test_what_nobody_measured_has_always_been_there() -> None:
    found = joints_before(holds(measured=False), SENSED, NOW, 3, 0.1)
    np.testing.assert_array_equal(found["hinge.position"], np.full((1, 3, 1), 0.7))
    np.testing.assert_array_equal(found["hinge.velocity"], np.full((1, 3, 1), 1.0))
