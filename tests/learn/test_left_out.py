"""How sure departures are: windows left out in turn."""

import numpy as np
import pytest

from gapless.learn.uncertainty import left_out_covariance, torn_covariance


def test_two_windows_that_disagree_by_hand() -> None:
    # Each says 1 in units of the prior, which says 1 as well: without one of them two are left, and half of 4 is missed.
    jacobian, residual = np.ones((2, 1, 1)), np.array([[4.0], [-4.0]])
    assert left_out_covariance(jacobian, residual)[0, 0] == pytest.approx((2.0**2 + 2.0**2) / 2)


def test_windows_that_agree_leave_the_noise() -> None:
    assert left_out_covariance(np.ones((3, 2, 1)), np.zeros((3, 2)))[0, 0] == pytest.approx(1 / 7)


def test_a_parameter_that_hangs_on_one_window_is_less_sure_than_the_fit_believes() -> None:
    rng = np.random.default_rng(0)
    jacobian = rng.standard_normal((12, 5, 3))
    jacobian[1:, :, 2] *= 0.01
    residual = np.zeros((12, 5))
    residual[0] = jacobian[0, :, 2]
    assert left_out_covariance(jacobian, residual)[2, 2] > 2 * torn_covariance(jacobian, residual, 1.0)[2, 2]
