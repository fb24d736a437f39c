"""Pass rates: intervals against published numbers, and pairs worked out by hand."""

import pytest

from gapless.engine.pass_rates import paired, pass_rate


def test_the_interval_is_that_of_clopper_and_pearson() -> None:
    # 8 of 10: the textbook interval is 0.444 to 0.975; none of 10: 1 − 0.025^(1/10).
    assert pass_rate(8, 10)[2:] == pytest.approx((0.4439, 0.9748), abs=1e-4)
    assert pass_rate(0, 10)[2:] == pytest.approx((0.0, 1 - 0.025**0.1))
    assert pass_rate(10, 10)[2:] == pytest.approx((0.025**0.1, 1.0))


def test_only_worlds_in_which_they_differ_count() -> None:
    before, after = [True] * 50 + [True] * 5 + [False] * 1, [True] * 50 + [False] * 5 + [True] * 1
    # Five lost and one won: P(at least 5 of 6) = 7/64.
    assert paired(before, after) == (5, 1, pytest.approx(7 / 64))


def test_who_loses_nothing_loses_by_chance() -> None:
    assert paired([True, False], [True, True]) == (0, 1, 1.0)


def test_five_lost_and_none_won_is_no_accident() -> None:
    assert paired([True] * 5, [False] * 5).chance == pytest.approx(1 / 32)
