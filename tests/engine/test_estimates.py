"""What is expected of more data and more training, against numbers worked out by hand."""

import numpy as np
import pytest

from gapless.engine.estimates import (
    better_of,
    cost_of_doubt,
    cost_of_failing,
    learned_by,
    left_of,
    luck_of,
    share_known,
    share_taken,
    told_by_one_more,
    unexplained,
    weights_of,
)


def test_doubt_costs_what_differs_between_draws_and_not_what_starts_make_differ() -> None:
    # Means 1 and 3: variance 2. Within: both draws have variance 0.02, of which half is in each mean.
    returns = np.array([[0.9, 1.1], [2.9, 3.1]])
    assert cost_of_doubt(returns) == pytest.approx(1.2816 * np.sqrt(2 - 0.01), rel=1e-4)
    assert cost_of_doubt(np.array([[0.0, 2.0], [2.0, 0.0]])) == 0.0


def test_a_parameter_weighs_as_much_as_the_return_follows_it() -> None:
    returns = np.array([1.0, 2.0, 3.0, 4.0])
    found = weights_of({"same": 5 - returns, "none": np.array([1.0, -1.0, -1.0, 1.0]), "fixed": np.ones(4)}, returns)
    assert found == pytest.approx({"same": 1.0, "none": 0.0, "fixed": 0.0})


def test_a_lesson_takes_away_no_doubt_that_lasts() -> None:
    assert left_of(0.5, 0.3, 0.4) == pytest.approx(1.0)  # 3-4-5
    assert left_of(1.0, 0.3, 0.0) == pytest.approx(0.3)
    assert left_of(0.0, 0.0, 0.0) == 1.0


def test_the_share_taken_is_weighed_by_what_the_return_follows() -> None:
    now, after = {"a": 1.0, "b": 1.0}, {"a": 0.2, "b": 1.0}
    nothing = {"a": 0.0, "b": 0.0}
    assert share_taken(now, after, nothing, {"a": 3.0, "b": 1.0}) == pytest.approx(0.6)
    assert share_taken(now, after, nothing, {"b": 1.0}) == 0.0
    assert share_taken(now, after, nothing, {}) == 0.0


def test_without_a_policy_every_parameter_counts_alike_against_what_was_unknown_at_first() -> None:
    now, after, prior = {"a": 0.5, "b": 1.0}, {"a": 0.25, "b": 1.0}, {"a": 1.0, "b": 1.0}
    assert share_known(now, after, {"a": 0.0, "b": 0.0}, prior) == pytest.approx((0.5**2 - 0.25**2) / 2)


def test_what_the_parameters_leave_is_read_off_the_held_out_chi_square() -> None:
    assert unexplained(4.0, 1.5) == pytest.approx(0.5)
    assert unexplained(1.4, 1.5) == 0.0


def test_twice_the_logs_take_off_what_the_root_of_two_says() -> None:
    assert learned_by(6.0, 6.0) == pytest.approx(1 - np.sqrt(0.5))
    assert learned_by(0.0, 6.0) == 1.0


def test_failing_costs_the_way_to_those_that_pass() -> None:
    assert cost_of_failing(np.array([3.0, 3.0, 0.0]), np.array([True, True, False])) == pytest.approx(1.0)
    assert cost_of_failing(np.array([1.0, 2.0]), np.array([False, False])) == 0.0


def test_the_second_of_two_trainings_gains_most_and_each_further_one_less() -> None:
    looks = np.array([0.0, 9.0, 1.0, 3.0])  # the later half differs by a deviation of √2
    assert luck_of(looks, 1) == pytest.approx(0.564 * np.sqrt(2))
    assert luck_of(looks, 2) == pytest.approx(0.282 * np.sqrt(2))
    assert luck_of(looks, 99) == 0.0
    assert luck_of(np.array([1.0]), 1) == 0.0


def test_an_episode_more_tells_less_the_more_there_were() -> None:
    assert told_by_one_more(1.0, 0) == pytest.approx(0.3989 * (1 - np.sqrt(0.5)), rel=1e-3)
    assert told_by_one_more(1.0, 1) < told_by_one_more(1.0, 0) / 2


def test_choosing_the_better_of_two_gains_by_hand() -> None:
    assert better_of(0.0, 1.0) == pytest.approx(0.3989, abs=1e-4)  # the mean of a normal's upper half
    assert better_of(1.0, 1.0) == pytest.approx(1 * 0.8413 + 0.2420, abs=1e-4)
    assert better_of(-1.0, 1.0) == pytest.approx(-1 * 0.1587 + 0.2420, abs=1e-4)
    assert (better_of(0.5, 0.0), better_of(-0.5, 0.0)) == (0.5, 0.0)
