"""The fewest departures: what logs would miss stays, what makes up for others goes, and one cause is not told as many."""

from dataclasses import replace

import numpy as np
import pytest

from gapless.learn.fewest import FAMILY, PARAMETER, Doubt, departures


def doubt(found: list[float], precision: np.ndarray, families: str, low: float = -10.0) -> Doubt:
    """Parameters whose nominal value is zero, each of the family with that letter."""
    size = len(found)
    return Doubt(np.array(found), np.zeros(size), np.full(size, low), np.full(size, 10.0), precision, tuple(families))


def test_of_two_that_make_up_for_each_other_one_is_enough() -> None:
    # Only the sum of the two is known; a third one is known and nominal.
    precision = np.diag([1.0, 1.0, 1e4]) + 1e4 * np.outer([1, 1, 0], [1, 1, 0])
    found = doubt([0.6, 0.5, 0.001], precision, "abc")
    kept = departures(found)
    assert kept.sum() == 1
    assert kept[:2].any()
    assert found.values(kept).sum() == pytest.approx(1.1, rel=1e-3)


def test_what_logs_would_miss_stays() -> None:
    found = doubt([0.3, -0.2], np.diag([1e4, 1e4]), "ab")
    kept = departures(found)
    assert kept.all()
    assert found.values(kept) == pytest.approx([0.3, -0.2])


def test_the_price_is_what_is_missed_and_what_departs() -> None:
    found = doubt([3.0, 1.0, 2.0], np.diag([4.0, 4.0, 1.0]), "aab")
    assert found.price(np.array([True, True, False])) == pytest.approx(2.0**2 + 2 * PARAMETER + FAMILY)
    assert found.price(np.array([True, False, True])) == pytest.approx(4.0 + 2 * PARAMETER + 2 * FAMILY)


def test_a_second_parameter_of_a_family_needs_less_evidence_than_one_of_another() -> None:
    between = PARAMETER + FAMILY / 2
    evidence = np.diag([1e4, between])
    assert departures(doubt([1.0, 1.0], evidence, "aa")).tolist() == [True, True]
    assert departures(doubt([1.0, 1.0], evidence, "ab")).tolist() == [True, False]


def test_one_late_sensor_is_not_told_as_late_commands_and_a_sensor_ahead() -> None:
    """Logs see both sensors' delays together with the commands': c + a and c + b, here 0 and 2; a search spread them."""
    seen = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    precision = 1e4 * seen.T @ seen + 1e-3 * np.eye(3)
    found = doubt([1.6, -1.6, 0.4], precision, "lss", low=0.0)
    kept = departures(found)
    assert kept.tolist() == [False, False, True]
    assert found.values(kept)[2] == pytest.approx(2.0, rel=1e-3)


def test_a_delay_of_all_sensors_is_one_of_the_commands() -> None:
    seen = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    precision = 1e4 * seen.T @ seen + 1e-3 * np.eye(3)
    assert departures(doubt([0.2, 1.8, 1.8], precision, "lss", low=0.0)).tolist() == [True, False, False]


def test_of_sensors_that_are_all_late_one_is_on_time_by_definition() -> None:
    # Both sensors' delays are seen a little better than the commands' that would explain as much.
    found = doubt([0.1, 1.0, 1.0], np.diag([1.0, 40.0, 40.0]) + 0.5, "abb")
    assert departures(found).tolist() == [False, True, True]
    assert departures(replace(found, never_all=(1, 2))).sum() <= 2
    assert not departures(replace(found, never_all=(1, 2)))[1:].all()


def test_nothing_departs_to_where_it_cannot_be() -> None:
    """Friction below zero would explain the logs; the motor explains them nearly as well."""
    precision = np.array([[1000.0, -990.0], [-990.0, 1000.0]])
    found = doubt([-2.0, 0.0], precision, "fa")
    assert departures(found).tolist() == [True, False]
    held = replace(found, low=np.array([0.0, -10.0]))
    assert departures(held).tolist() == [False, True]
    assert held.values(np.array([False, True])) == pytest.approx([0.0, 1.98])
