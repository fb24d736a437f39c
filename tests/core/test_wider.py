"""A belief that is less sure of itself: the same middle, other deviations, the same limits."""

import jax
import numpy as np
import pytest

from gapless.core import Belief, Chosen, Gaussian, Particles, Point, wider

LOW, HIGH = np.array([0.0, -5.0]), np.array([4.0, 5.0])
GAUSSIAN = Gaussian(("mass", "tilt"), np.array([2.0, 0.0]), np.array([[0.04, 0.01], [0.01, 0.25]]), LOW, HIGH)
DRAWN = np.random.default_rng(0).multivariate_normal(GAUSSIAN.centre, GAUSSIAN.covariance, 200)
PARTICLES = Particles(GAUSSIAN.names, DRAWN, LOW, HIGH)


@pytest.mark.parametrize("belief", [GAUSSIAN, PARTICLES, Chosen(GAUSSIAN, "member", 4)])
def test_deviations_grow_and_means_and_limits_stay(belief: Belief) -> None:
    found, before, after = wider(belief, 3.0), belief.deviation(), wider(belief, 3.0).deviation()
    for name in ("mass", "tilt"):
        assert found.mean()[name] == pytest.approx(belief.mean()[name])
        assert after[name] == pytest.approx(3 * before[name], rel=1e-3)
    draws = found.sample(jax.random.key(0), 400)
    assert float(draws["mass"].min()) >= 0.0
    assert float(np.std(draws["tilt"])) > 2 * float(before["tilt"])
    assert found.names == belief.names


@pytest.mark.parametrize(("belief", "times"), [(GAUSSIAN, 1.0), (Point(("mass",), np.array([2.0])), 3.0)])
def test_what_needs_no_widening_stays_itself(belief: Belief, times: float) -> None:
    assert wider(belief, times) is belief
