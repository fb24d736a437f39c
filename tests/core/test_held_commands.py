"""Held commands and their averages: worked out by hand, and by brute force."""

import numpy as np
import pytest

from gapless.core import Holds


def holds(offset_s: float = 0.0) -> Holds:
    """4 from 0 s on, 8 from 1 s on, 2 from 3 s on."""
    times, values = np.array([0.0, 1.0, 3.0]), np.array([[4.0], [8.0], [2.0]])
    return Holds([times], [values], np.zeros(1, int), np.array([offset_s]))


def test_an_average_over_two_commands_weighs_them_by_time() -> None:
    found = holds().averages(np.zeros(1), 3, 1.5)[0, :, 0]
    # [0, 1.5]: a second of 4, half of 8; [1.5, 3]: 8; [3, 4.5]: 2 goes on.
    assert found == pytest.approx([16 / 3, 8.0, 2.0])


def test_latency_delays_and_the_first_command_holds_before() -> None:
    found = holds().averages(np.array([0.25]), 2, 1.0)[0, :, 0]
    assert found == pytest.approx([4.0, 0.25 * 4 + 0.75 * 8])


def test_a_world_may_start_within_the_log() -> None:
    assert holds(offset_s=2.5).averages(np.zeros(1), 1, 1.0)[0, 0, 0] == pytest.approx(0.5 * 8 + 0.5 * 2)


def test_averages_agree_with_brute_force_for_several_logs_and_columns() -> None:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 1, 9)) for _ in range(2)]
    values = [rng.normal(size=(9, 2)) for _ in range(2)]
    log, offset, latency = np.array([1, 0, 1]), np.array([0.0, 0.2, 0.5]), np.array([0.0, 0.03, 0.1])
    found = Holds(times, values, log, offset).averages(latency, 4, 0.1)
    fine = (np.arange(4000) + 0.5) * 1e-4
    for w in range(3):
        at = fine + offset[w] - latency[w]
        row = np.clip(np.searchsorted(times[log[w]], at, side="right") - 1, 0, None)
        brute = values[log[w]][row].reshape(4, 1000, 2).mean(axis=1)
        assert found[w] == pytest.approx(brute, abs=5e-3)


def test_what_was_measured_is_told_on_each_worlds_own_clock() -> None:
    times, empty = np.array([0.0, 1.0, 2.0]), np.zeros((3, 1))
    seen = [{"angle": (times, 10 * times)}, {"angle": (times, -times)}]
    two = Holds([times, times], [empty, empty], np.array([0, 1]), np.array([1.0, 0.5]), seen)
    found = two.measured("angle", np.array([-0.5, 0.0]))
    assert found is not None
    np.testing.assert_allclose(found, [[5.0, 10.0], [0.0, -0.5]])
    assert two.measured("another", np.array([0.0])) is None and holds().measured("angle", np.array([0.0])) is None
