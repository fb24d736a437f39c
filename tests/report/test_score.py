"""The forecast's own score."""

import pytest

from gapless.core import Store
from gapless.report.score import place, score, wilson
from gapless.report.story import read_story


def test_score_counts_outcomes_inside_and_the_share_that_was_claimed(whole: Store):
    found = score("all", [read_story(whole), read_story(whole)])
    assert (found.inside, found.of, found.claimed) == (4, 6, pytest.approx(0.8))


def test_outcome_without_a_forecast_is_not_scored(collected: Store):
    assert score("none", [read_story(collected)]).of == 0


def test_wilson_interval_of_eight_in_ten_is_the_textbooks():
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_wilson_interval_of_all_hits_ends_at_one():
    low, high = wilson(3, 3)
    assert high == pytest.approx(1.0)
    assert 0.4 < low < 0.5


def test_place_is_measured_in_lengths_of_the_interval(whole: Store):
    places = [place(c) for c in read_story(whole).cranks]  # 1.9 in [2.6, 3.4], 3.4 in [3.1, 3.9], 3.9 in [3.4, 4.2]
    assert places == pytest.approx([-0.875, 0.375, 0.625])
