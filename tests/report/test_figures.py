"""Figures as the page reads them."""

import math

import pytest

from gapless.report.figures import Curve, unwound


def curve(unit: str, measured: tuple[float | None, ...]) -> Curve:
    return Curve("pole.angle", unit, (0.0, 0.1, 0.2, 0.3), measured, (), ())


def test_angle_that_wraps_is_shown_without_the_jump():
    turned = unwound(curve("rad", (3.0, 3.1, 3.2 - math.tau, 3.3 - math.tau)))
    assert turned.measured == pytest.approx((3.0, 3.1, 3.2, 3.3))


def test_missing_samples_of_an_angle_stay_missing():
    assert unwound(curve("rad", (3.0, None, 3.2 - math.tau, None))).measured == (3.0, None, pytest.approx(3.2), None)


def test_lengths_keep_their_jumps():
    assert unwound(curve("m", (0.0, 9.0, 0.0, 9.0))).measured == (0.0, 9.0, 0.0, 9.0)
