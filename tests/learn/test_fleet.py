"""A fleet: robots lend each other what they know, and the next one begins with it."""

import numpy as np
import pytest

from gapless.core import GaplessError, Gaussian
from gapless.learn import fleet

LOW, HIGH = np.array([0.0, 0.0]), np.array([4.0, 40.0])
NAMES = ("link.mass", "motor.gain")


def _belief(centre: list[float], deviation: list[float], names: tuple[str, ...] = NAMES) -> Gaussian:
    return Gaussian(names, np.array(centre), np.diag(np.array(deviation) ** 2), LOW, HIGH)


def test_what_robots_have_in_common_and_how_they_differ_is_found() -> None:
    rng = np.random.default_rng(0)
    true = np.array([2.0, 20.0]) + np.array([0.05, 2.0]) * rng.standard_normal((12, 2))
    seen = true + np.array([0.02, 0.5]) * rng.standard_normal((12, 2))
    found = fleet([_belief(list(s), [0.02, 0.5]) for s in seen])
    assert found.common.mean()["link.mass"] == pytest.approx(2.0, abs=0.05)
    assert found.spread["motor.gain"] == pytest.approx(true[:, 1].std(), rel=0.4)
    assert found.spread["link.mass"] == pytest.approx(true[:, 0].std(), rel=0.4)


def test_a_robot_that_hardly_moved_borrows_from_the_others() -> None:
    known = [_belief([2.0 + 0.01 * k, 20.0 + 0.1 * k], [0.02, 0.2]) for k in range(5)]
    found = fleet([*known, _belief([3.0, 30.0], [1.0, 10.0])])
    lent = found.each[-1]
    assert lent.mean()["link.mass"] == pytest.approx(2.02, abs=0.1)
    assert lent.deviation()["link.mass"] < 0.1
    assert found.each[0].mean()["link.mass"] == pytest.approx(2.0, abs=0.02)


def test_the_next_robot_is_doubted_as_much_as_robots_differ() -> None:
    alike = fleet([_belief([2.0 + 0.001 * k, 20.0 + 3 * (-1) ** k], [0.01, 0.1]) for k in range(6)]).next
    assert alike.deviation()["link.mass"] < 0.05
    assert alike.deviation()["motor.gain"] > 2.0


def test_beliefs_about_other_parameters_are_no_fleet() -> None:
    with pytest.raises(GaplessError, match=r"differ in link\.com"):
        fleet([_belief([1, 1], [1, 1]), _belief([1, 1], [1, 1], ("link.com", "motor.gain"))])
    with pytest.raises(GaplessError, match="at least two"):
        fleet([_belief([1, 1], [1, 1])])
