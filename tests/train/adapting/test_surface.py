"""A Gaussian process over strategies: numbers by hand, and where it would look next."""

import numpy as np
import pytest

from gapless.train.adapting.surface import Surface, kernel, surface


def test_strategies_one_length_apart_are_alike_by_the_root_of_e() -> None:
    assert kernel(np.zeros((1, 1)), np.array([[0.0], [2.0]]), 2.0) == pytest.approx(np.array([[1.0, np.exp(-0.5)]]))


def test_one_episode_counts_by_its_noise() -> None:
    one = Surface(np.zeros((1, 1)), np.array([2.0]), 1.0, 0.25)
    mean, deviation = one.at(np.array([[0.0], [1.0]]))
    # At the strategy itself 2 × 1 / 1.25, one length away e^−½ of that; variances 1 − 1/1.25 and 1 − e⁻¹/1.25.
    assert mean == pytest.approx([1.6, 1.6 * np.exp(-0.5)])
    assert deviation == pytest.approx([np.sqrt(0.2), np.sqrt(1 - np.exp(-1) / 1.25)])


def test_improvement_by_hand() -> None:
    one = Surface(np.zeros((1, 1)), np.zeros(1), 1.0, 0.25)
    # Nothing is expected anywhere, so that doubt alone improves: deviation × φ(0); far away the deviation is 1.
    near, far = one.improvement(np.array([[0.0], [50.0]]))
    assert near == pytest.approx(np.sqrt(0.2) / np.sqrt(2 * np.pi))
    assert far == pytest.approx(1 / np.sqrt(2 * np.pi))


def test_the_likelihood_is_that_of_a_gaussian() -> None:
    two = Surface(np.array([[0.0], [1.0]]), np.array([1.0, -1.0]), 1.0, 0.5)
    rho = np.exp(-0.5)
    # Along (1, −1) the variance is 1.5 − ρ, along (1, 1) it is 1.5 + ρ; the returns lie along the first, with square 2.
    expected = -0.5 * 2 / (1.5 - rho) - 0.5 * np.log((1.5 - rho) * (1.5 + rho))
    assert two.likelihood() == pytest.approx(expected)


def test_a_lucky_episode_among_poor_neighbours_is_not_the_best() -> None:
    tried = np.array([[0.0], [0.02], [-0.02], [0.04], [3.0], [3.02], [2.98]])
    returns = np.array([3.2, 0.0, 0.1, 0.0, 2.9, 3.0, 3.1])
    assert surface(tried, returns).best() >= 4


def test_where_all_is_alike_the_first_is_kept() -> None:
    assert surface(np.array([[0.0], [1.0], [-1.0]]), np.full(3, 7.0)).best() == 0
