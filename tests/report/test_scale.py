"""Scales, ticks and labels."""

from itertools import pairwise

import pytest

from gapless.report.scale import Scale, log_span, log_ticks, span, spread, thin, ticks


def test_scale_maps_the_ends_of_its_range_to_its_pixels():
    scale = Scale(2.0, 4.0, 100.0, 0.0)
    assert (scale(2.0), scale(3.0), scale(4.0)) == (100.0, 50.0, 0.0)


def test_log_scale_gives_every_decade_the_same_length():
    scale = Scale(0.01, 1.0, 0.0, 200.0, log=True)
    assert scale(0.1) == pytest.approx(100.0)


@pytest.mark.parametrize("value", [-1e300, 0.0, 1e300])
def test_scale_keeps_values_that_ran_away_near_the_picture(value: float):
    assert -100.0 <= Scale(0.1, 1.0, 0.0, 100.0, log=True)(value) <= 200.0


def test_ticks_are_round_and_share_their_decimals():
    assert ticks(0.0, 1.0, 5) == [
        (0.0, "0.0"),
        (0.2, "0.2"),
        (0.4, "0.4"),
        (pytest.approx(0.6), "0.6"),
        (0.8, "0.8"),
        (1.0, "1.0"),
    ]


def test_ticks_of_many_steps_are_written_short():
    assert [words for _, words in ticks(0.0, 1_500_000.0, 3)] == ["0", "500 k", "1 M", "1.5 M"]


def test_ticks_of_negative_values_carry_a_true_minus():
    assert [words for _, words in ticks(-10.0, 0.0, 2)] == ["−10", "−5", "0"]


def test_log_ticks_are_powers_of_ten_where_room_is_short():
    assert [words for _, words in log_ticks(0.01, 10.0, 4)] == ["0.01", "0.1", "1", "10"]


@pytest.mark.parametrize("values", [[], [None], [3.0], [0.0, 0.0], [-1.0, None, 2.0]])
def test_span_is_never_empty(values: list[float | None]):
    low, high = span(values)
    assert low < high


@pytest.mark.parametrize("values", [[], [0.0, -1.0], [0.3], [1e-9, 1e9]])
def test_log_span_is_positive_and_covers_a_decade(values: list[float]):
    low, high = log_span(values)
    assert low > 0
    assert high / low >= 9.99


def test_labels_that_would_touch_are_spread_and_stay_inside():
    placed = spread([50.0, 51.0, 99.0, 98.0], 15.0, 0.0, 100.0)
    assert placed[0] < placed[1] < placed[3] < placed[2] <= 100.0
    ordered = sorted(placed)
    assert min(b - a for a, b in pairwise(ordered)) >= 15.0


def test_labels_with_room_stay_where_they_are_wanted():
    assert spread([80.0, 20.0], 15.0, 0.0, 100.0) == [80.0, 20.0]


def test_thinning_keeps_both_ends():
    assert thin(1000, 3) == [0, 500, 999]
    assert thin(3, 10) == [0, 1, 2]
