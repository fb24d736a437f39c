"""Distributions that move within a KL bound: numbers by hand."""

import numpy as np
import pytest

from gapless.core import Gaussian
from gapless.train.adapting.reps import from_equal, from_standard, moved, weights

OLD = Gaussian(("mass",), np.array([1.0]), np.array([[0.25]]), np.array([-5.0]), np.array([5.0]))


def test_kl_of_weights_by_hand() -> None:
    assert from_equal(np.full(4, 0.25)) == pytest.approx(0.0)
    assert from_equal(np.array([1.0, 0.0, 0.0, 0.0])) == pytest.approx(np.log(4))
    assert from_equal(np.array([0.75, 0.25])) == pytest.approx(0.75 * np.log(1.5) + 0.25 * np.log(0.5))


def test_kl_of_gaussians_by_hand() -> None:
    assert from_standard(np.array([2.0]), np.eye(1)) == pytest.approx(2.0)
    # ½ (½ + 0 − 1 − ln ½)
    assert from_standard(np.zeros(1), np.array([[0.5]])) == pytest.approx(0.5 * (np.log(2) - 0.5))
    assert from_standard(np.array([1.0, 0.0]), np.diag([2.0, 1.0])) == pytest.approx(0.5 * (3 + 1 - 2 - np.log(2)))


def test_weights_use_the_whole_bound_and_fall_with_the_cost() -> None:
    costs = np.array([0.0, 1.0, 2.0, 10.0])
    weight = weights(costs, 0.3)
    assert from_equal(weight) == pytest.approx(0.3, abs=1e-6)
    assert (np.diff(weight) < 0).all()
    # e^(−cost / η): the logarithms fall in proportion to the costs.
    assert np.log(weight[0] / weight[2]) == pytest.approx(2 * np.log(weight[0] / weight[1]))


def test_two_samples_within_a_wide_bound_leave_only_the_better() -> None:
    assert weights(np.array([1.0, 2.0]), 5.0) == pytest.approx([1.0, 0.0])


def test_costs_that_do_not_differ_move_nothing() -> None:
    samples = np.array([[0.5], [1.5]])
    after = moved(OLD, samples, np.ones(2), 1.0)
    assert after.centre == pytest.approx([1.0])


def test_a_gaussian_moves_towards_what_costs_less_and_stays_within_the_bound() -> None:
    samples = 1.0 + 0.5 * np.random.default_rng(0).normal(size=(2000, 1))
    costs = (samples[:, 0] - 2.0) ** 2
    after = moved(OLD, samples, costs, 0.5)
    white = (after.centre - OLD.centre) / 0.5, after.covariance / 0.25
    assert 1.2 < after.centre[0] < 2.0
    assert 0.3 < from_standard(*white) <= 0.5 + 1e-9
    for _ in range(8):
        samples = np.asarray(after.centre) + np.asarray(after.root) * np.random.default_rng(1).normal(size=(2000, 1))
        after = moved(after, samples, (samples[:, 0] - 2.0) ** 2, 0.5)
    assert after.centre[0] == pytest.approx(2.0, abs=0.05)
