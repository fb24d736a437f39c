"""Numbers as text."""

import pytest

from gapless.report.wording import fixed, interval, number, percent, terse, times


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0"), (3.14159, "3.14"), (-0.5, "−0.500"), (12345.6, "12\u202f346"), (2.5e-7, "2.50×10⁻⁷")],
)
def test_numbers_have_three_significant_digits(value: float | None, text: str):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0"), (1.70, "1.7"), (0.0001, "0.0001"), (1200.0, "1\u202f200"), (1e-9, "1×10⁻⁹")],
)
def test_terse_numbers_carry_no_empty_zeros(value: float | None, text: str):
    assert terse(value) == text


def test_zero_has_no_sign():
    assert fixed(-0.001, 1) == "0.0"


def test_interval_shows_both_ends_as_finely_as_its_width_deserves():
    assert interval(3.7012, 4.1043) == "3.70 to 4.10"
    assert interval(None, 4.1) == "–"


def test_shares_are_percentages():
    assert percent(0.437) == "44\u00a0%"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (0.8, 0.1, "8.0 times smaller"),
        (0.1, 0.2, "2.0 times larger"),
        (0.8, 0.0, "down to the floor"),
        (None, 0.1, None),
        (0.0, 0.1, None),
    ],
)
def test_change_of_the_gap_is_put_into_words(before: float | None, after: float, said: str | None):
    assert times(before, after) == said
