"""Hill climbing and antithetic evolution, worked out by hand."""

import jax
import jax.numpy as jnp
import numpy as np

from gapless.train.meta.climbing import climbed, members, uphill


def test_evolution_finds_the_gradient_of_a_linear_function() -> None:
    slope, deviation = jnp.array([1.0, -2.0, 0.5]), 0.3
    # With orthogonal noise of the right length, antithetic differences are exact.
    noise = np.sqrt(3) * jnp.eye(3)
    every = members(jnp.array([4.0, 5.0, 6.0]), noise, deviation)
    above, below = (every @ slope).reshape(2, 3)
    np.testing.assert_allclose(uphill(noise, above, below, deviation), slope, rtol=1e-5)


def test_what_both_of_a_pair_share_says_nothing() -> None:
    noise = jax.random.normal(jax.random.key(0), (8, 3))
    worth = jnp.arange(8.0)
    np.testing.assert_array_equal(uphill(noise, worth, worth, 0.1), jnp.zeros(3))


def test_climbing_takes_the_steps_that_pay_and_goes_on_from_there() -> None:
    goal = jnp.array([3.0, -1.0])
    steps = {"x": jnp.array([[2.0, -4.0, 2.0], [2.0, -4.0, -1.0]])}
    asked = []

    def valued(networks: dict, episode: int) -> jax.Array:
        asked.append((episode, networks["x"].tolist()))
        return -jnp.abs(networks["x"] - goal)

    best = climbed({"x": jnp.zeros(2)}, steps, valued)
    # To 3: +2 pays, −4 does not, 2 + 2 is as far off as 2 and does not. To −1: +2 and −4 do not, −1 does.
    assert asked == [(0, [0.0, 0.0]), (1, [2.0, 2.0]), (2, [-2.0, -4.0]), (3, [4.0, -1.0])]
    assert best["x"].tolist() == [2.0, -1.0]
