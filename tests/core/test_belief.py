"""Beliefs beyond the conformance suite: numbers by hand, the cut at the box, priors from parameters."""

import jax
import numpy as np
import pytest

from gapless.core import (
    GaplessError,
    Gaussian,
    Parameter,
    Point,
    Uniform,
    belief_from_dict,
    complete,
    nominal_belief,
    prior_belief,
)

DAMPING = Parameter("hinge.damping", "N m s/rad", 0.1, 0.0, 0.4, "friction")
MASS = Parameter("rod.mass", "kg", 0.5, 0.25, 1.0, "inertia", free=False)


def test_a_uniform_belief_has_the_density_of_its_box() -> None:
    box = Uniform(("a", "b"), np.array([0.0, -1.0]), np.array([2.0, 3.0]))
    found = box.log_prob({"a": np.array([1.0, 2.5]), "b": np.array([0.0, 0.0])})
    assert found[0] == pytest.approx(-np.log(8.0))
    assert found[1] == -np.inf


def test_a_gaussian_belief_has_the_density_of_the_book() -> None:
    belief = Gaussian(("a",), np.array([1.0]), np.array([[4.0]]), np.array([-9.0]), np.array([11.0]))
    found = belief.log_prob({"a": np.array([3.0])})
    assert found[0] == pytest.approx(-0.5 - np.log(2.0) - 0.5 * np.log(2 * np.pi), abs=1e-5)


def test_a_gaussian_belief_keeps_its_correlation() -> None:
    covariance = np.array([[1.0, 0.8e-3], [0.8e-3, 1e-6]])
    belief = Gaussian(("mass", "latency"), np.zeros(2), covariance, np.full(2, -9.0), np.full(2, 9.0))
    drawn = belief.sample(jax.random.key(0), 4000)
    assert np.corrcoef(drawn["mass"], drawn["latency"])[0, 1] == pytest.approx(0.8, abs=0.03)


def test_no_draw_leaves_the_box_even_where_it_cuts_deep() -> None:
    belief = Gaussian(("a",), np.array([0.0]), np.array([[100.0]]), np.array([0.0]), np.array([0.5]))
    drawn = np.asarray(belief.sample(jax.random.key(0), 500)["a"])
    assert drawn.min() >= 0.0 and drawn.max() <= 0.5


def test_a_point_is_certain_of_itself_only() -> None:
    point = Point(("a",), np.array([0.1]))
    drawn = point.sample(jax.random.key(0), 2)
    assert np.asarray(point.log_prob(drawn)).tolist() == [0.0, 0.0]
    assert np.asarray(point.log_prob({"a": np.array([0.2])})).tolist() == [-np.inf]


def test_a_prior_doubts_only_what_is_free_and_fills_its_range() -> None:
    prior = prior_belief([DAMPING, MASS])
    assert prior.names == ("hinge.damping",)
    assert prior.deviation()["hinge.damping"] == pytest.approx(0.1)
    assert (prior.low[0], prior.high[0]) == (0.0, 0.4)


def test_a_nominal_belief_knows_every_parameter() -> None:
    assert {k: float(v) for k, v in nominal_belief([DAMPING, MASS]).mean().items()} == {
        "hinge.damping": 0.1,
        "rod.mass": 0.5,
    }


def test_what_is_not_given_is_completed_with_its_nominal_value() -> None:
    found = complete({"rod.mass": np.array([0.3, 0.6])}, [DAMPING, MASS], 2)
    assert np.allclose(found["rod.mass"], [0.3, 0.6])
    assert np.allclose(found["hinge.damping"], [0.1, 0.1])


def test_an_unknown_kind_of_belief_is_named() -> None:
    with pytest.raises(
        GaplessError, match="unknown kind of belief 'vague'; it must be one of point, uniform, gaussian"
    ):
        belief_from_dict({"kind": "vague", "names": []})


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"family": "magic"}, "parameter 'x' has family 'magic'; it must be one of latency, friction"),
        ({"nominal": 3.0}, "nominal 3.0 in the range 0.0 to 1.0; the range must not be empty and must contain"),
        ({"nominal": 0.0, "high": 0.0}, "the range must not be empty"),
    ],
)
def test_a_parameter_outside_its_own_range_is_refused(fields: dict, says: str) -> None:
    given = {"name": "x", "unit": "", "nominal": 0.5, "low": 0.0, "high": 1.0, "family": "inertia", **fields}
    with pytest.raises(GaplessError, match=says):
        Parameter(**given)
