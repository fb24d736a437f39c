"""The two clocks of the monitor's faults: when something breaks and matters, and when it first shows."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from monitor_faults import departs, shows

BEGINS = np.array([1])


@pytest.fixture
def readings() -> dict[str, np.ndarray]:
    """Six measurements of a world that is well and of one in which x goes astray by one unit a period from the third on."""
    well, wrong = np.zeros(6), np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0])
    return {"x": np.stack([well, wrong], axis=1)[..., None]}


@pytest.mark.parametrize(("noise", "first"), [(0.1, 3), (0.5, 4), (10.0, 6)])
def test_a_fault_shows_from_three_deviations_of_noise_on(
    readings: dict[str, np.ndarray], noise: float, first: int
) -> None:
    found = shows(readings, {"x": np.array([noise])}, BEGINS, faults=2)
    assert found[1, 0] == first  # the last is one beyond the end: it never shows
    assert found[0, 0] == 6


def test_what_differs_before_the_fault_begins_is_not_its_doing(readings: dict[str, np.ndarray]) -> None:
    assert shows(readings, {"x": np.array([0.1])}, np.array([4]), faults=2)[1, 0] == 5


def test_a_fault_matters_if_a_joint_departs_within_the_while() -> None:
    well = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])  # its deviation is one
    wrong = well + np.array([0.0, 0.0, 0.0, 0.05, 0.2, 0.2])
    joints = {"arm.position": np.stack([well, wrong], axis=1)[..., None], "arm.velocity": np.zeros((6, 2, 1))}
    since = np.ones((2, 1), int)
    assert departs(joints, since, rows=3).tolist() == [[False], [False]]
    assert departs(joints, since, rows=4).tolist() == [[False], [True]]
