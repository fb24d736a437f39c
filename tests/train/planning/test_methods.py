"""MPPI's weights and CEM's elites, worked out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.train.planning import Cem, Mppi, Planning
from gapless.train.planning.mppi import weights
from gapless.train.planning.plan import Plan


def knots(*values: float) -> jnp.ndarray:
    """One candidate per value, of one knot and one command."""
    return jnp.asarray(values)[:, None, None]


def test_each_temperature_of_return_is_worth_a_factor_e() -> None:
    # exp(0), exp(−1) and exp(−2) over their sum 1 + 0.36788 + 0.13534 = 1.50321.
    found = weights(jnp.array([3.0, 2.0, 1.0]), 1.0)
    assert found == pytest.approx([0.66524, 0.24473, 0.09003], abs=1e-5)
    assert weights(jnp.array([5.0, 3.0]), 2 / np.log(4)) == pytest.approx([0.8, 0.2])


def test_weights_are_the_same_whatever_is_added_to_all_returns_and_even_where_all_are_equal() -> None:
    assert weights(jnp.array([1e4, 1e4 - 1]), 1.0) == pytest.approx([0.73106, 0.26894], abs=1e-4)
    assert weights(jnp.zeros(4), 0.0) == pytest.approx([0.25] * 4)


def test_mppi_moves_the_plan_to_the_weighted_mean() -> None:
    # Returns 0 and 2 deviate by 1; at temperature 2 / ln 4 they weigh 0.2 and 0.8.
    method = Mppi(temperature=2 / np.log(4))
    plan = method.refit(method.begin(1, 1), knots(-1.0, 0.5), jnp.array([0.0, 2.0]))
    assert float(plan.mean[0, 0]) == pytest.approx(0.2 * -1.0 + 0.8 * 0.5)
    assert (plan.best == plan.mean).all()


def test_cem_refits_to_its_elites() -> None:
    # The elites are 0.6 (best) and 0.2: mean 0.4, deviation 0.2. A tenth of mean 0 and deviation 0.5 stays.
    method = Cem(noise=0.5, elites=2, kept=1, momentum=0.1, least=0.01)
    plan = method.refit(method.begin(1, 1), knots(-0.9, 0.2, 0.6, -0.5), jnp.array([0.0, 3.0, 4.0, 1.0]))
    assert float(plan.mean[0, 0]) == pytest.approx(0.36)
    assert float(plan.deviation[0, 0]) == pytest.approx(0.1 * 0.5 + 0.9 * 0.2)
    assert float(plan.best[0, 0]) == pytest.approx(0.6)
    assert plan.kept[:, 0, 0] == pytest.approx([0.6])


def test_cem_never_gives_up_straying() -> None:
    method = Cem(elites=2, kept=1, momentum=0.0, least=0.07)
    plan = method.refit(method.begin(1, 1), knots(0.3, 0.3, 0.0), jnp.array([1.0, 1.0, 0.0]))
    assert float(plan.deviation[0, 0]) == pytest.approx(0.07)


@pytest.mark.parametrize("method", [Mppi(), Cem()])
def test_the_plan_itself_is_among_the_candidates_and_none_is_beyond_the_limits(method: Mppi | Cem) -> None:
    plan = Plan(jnp.full((5, 2), 0.9), jnp.full((5, 2), 0.5), jnp.zeros((5, 2)), jnp.full((3, 5, 2), 0.1))
    found = np.asarray(method.propose(plan, 20, jax.random.key(0)))
    assert found.shape == (20, 5, 2)
    assert (found[0] == np.float32(0.9)).all()
    assert np.abs(found).max() <= 1.0
    if isinstance(method, Cem):
        assert (found[1:4] == np.float32(0.1)).all()


def test_what_cannot_be_planned_with_is_refused() -> None:
    with pytest.raises(GaplessError, match="noise and temperature above 0"):
        Mppi(temperature=0.0)
    with pytest.raises(GaplessError, match="1 ≤ kept ≤ elites"):
        Cem(elites=2, kept=3)
    with pytest.raises(GaplessError, match="6 candidates are too few for 8 elites"):
        Cem().propose(Cem().begin(2, 1), 6, jax.random.key(0))
    with pytest.raises(GaplessError, match="knots ≤ horizon"):
        Planning(horizon=5, knots=6)
