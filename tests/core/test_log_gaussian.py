import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, LogGaussian, belief_from_dict

BELIEF = LogGaussian(
    ("cup.mass", "cup.restitution"),
    np.array([np.log(2.0), -1.0]),
    np.array([[0.25, 0.1], [0.1, 0.5]]),
    np.array([0.0, 1.0]),
)


def test_moments_are_those_of_its_draws():
    drawn = BELIEF.sample(jax.random.key(0), 200_000)
    for name in BELIEF.names:
        assert float(BELIEF.mean()[name]) == pytest.approx(float(drawn[name].mean()), rel=0.01)
        assert float(BELIEF.deviation()[name]) == pytest.approx(float(drawn[name].std()), rel=0.02)
        assert float(BELIEF.quantile(0.95)[name]) == pytest.approx(float(jnp.quantile(drawn[name], 0.95)), rel=0.01)


def test_mean_of_a_mass_is_worked_out_by_hand():
    assert float(BELIEF.mean()["cup.mass"]) == pytest.approx(2.0 * np.exp(0.125), rel=1e-6)


def test_density_adds_up_to_one():
    mass, share = np.linspace(1e-3, 25, 1500), np.linspace(1e-3, 1 - 1e-3, 600)
    both = np.meshgrid(mass, share, indexing="ij")
    density = np.exp(BELIEF.log_prob({"cup.mass": both[0].ravel(), "cup.restitution": both[1].ravel()}))
    assert density.sum() * (mass[1] - mass[0]) * (share[1] - share[0]) == pytest.approx(1.0, abs=0.01)


def test_what_cannot_be_has_no_density():
    found = BELIEF.log_prob({"cup.mass": jnp.array([-1.0, 1.0, 1.0]), "cup.restitution": jnp.array([0.5, 1.5, 0.5])})
    assert np.isneginf(found[:2]).all() and np.isfinite(found[2])


def test_it_is_read_back_as_written_and_refused_when_damaged():
    written = BELIEF.to_dict()
    again = belief_from_dict(written)
    assert again.to_dict() == written
    np.testing.assert_array_equal(
        again.sample(jax.random.key(1), 5)["cup.mass"], BELIEF.sample(jax.random.key(1), 5)["cup.mass"]
    )
    with pytest.raises(GaplessError, match="share must hold"):
        belief_from_dict(written | {"share": [0.0]})
