"""The inner step by hand: where it goes, its own derivative, and a judge to whom rewards mean nothing."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.nets.teachable import ByGradient
from gapless.train.meta.gains import baseline, gains, to_go
from gapless.train.meta.inner import AHEAD, Lived, later, lived, objective, taught
from gapless.train.meta.trials import Rows

KEY = jax.random.key(0)
DISCOUNT = 0.9


def line(weight: float, bias: float) -> eqx.nn.MLP:
    """A command that is the tanh of weight × seen + bias."""
    network = eqx.nn.MLP(1, 1, 1, 0, key=KEY)
    values = jnp.full((1, 1), weight), jnp.full((1,), bias)
    return eqx.tree_at(lambda n: (n.layers[0].weight, n.layers[0].bias), network, values)


def manner(network: eqx.nn.MLP, rate: float, judge: eqx.nn.MLP | None = None) -> ByGradient:
    arrays = eqx.filter(network, eqx.is_array)
    rates = jax.tree.map(lambda x: jnp.full_like(x, jnp.log(rate)), arrays)
    return ByGradient(jnp.zeros(1), rates, jax.tree.map(lambda x: jnp.full_like(x, 0.25), arrays), judge)


def episode(seen: list[float], unit: list[float], reward: list[float]) -> Rows:
    """One episode, as (1, step, …); every observation is followed by one that is larger by a half."""
    x, u, r = (jnp.asarray(v)[None] for v in (seen, unit, reward))
    return Rows(x[..., None], u[..., None], x[..., None] + 0.5, r, jnp.ones_like(r, bool))


def test_a_step_goes_along_the_policy_gradient() -> None:
    network = line(0.0, 0.0)
    rows = episode([1.0, 2.0], [0.5, -0.5], [0.0, 0.0])
    gain = jnp.array([[3.0, 1.0]])
    slope = eqx.filter_grad(objective)(network, manner(network, 1.0), lived(network, jnp.zeros(1), rows), gain)
    # Centres are 0 and the deviation is 1: means of gain × unit × seen, (3·0.5·1 − 1·0.5·2) / 2, and of gain × unit.
    assert float(slope.layers[0].weight[0, 0]) == pytest.approx(0.25)
    assert float(slope.layers[0].bias[0]) == pytest.approx((3 * 0.5 - 1 * 0.5) / 2)


def test_the_derivative_of_a_step_is_exact_to_the_second_order() -> None:
    start, gain, unit, rate = line(0.0, 0.0), 2.0, 0.5, 0.1
    rows = episode([0.0], [unit], [0.0])
    past = lived(start, jnp.zeros(1), rows)

    def after(bias: jax.Array) -> jax.Array:
        network = eqx.tree_at(lambda n: n.layers[0].bias, start, bias)
        slope = eqx.filter_grad(objective)(network, manner(start, rate), past, jnp.full((1, 1), gain))
        return (bias + rate * slope.layers[0].bias)[0]

    # The likelihood is −½ (u − tanh b)² with slope u and bend −1 at b = 0, so that its ratio bends by u² − 1.
    assert float(jax.grad(after)(jnp.zeros(1))[0]) == pytest.approx(1 + rate * gain * (unit**2 - 1))


def test_a_step_is_taken_with_each_weights_own_rate_and_without_an_offset_where_rewards_judge() -> None:
    network = line(0.3, 0.1)
    rows = episode([1.0, -1.0, 0.5, 2.0], [0.5, -0.2, 0.1, 0.9], [1.0, 0.0, 2.0, 0.0])
    past = lived(network, jnp.zeros(1), rows)
    slope = eqx.filter_grad(objective)(network, manner(network, 1.0), past, gains(rows, DISCOUNT))
    changed = taught(network, manner(network, 0.5), past, DISCOUNT)
    expected = 0.3 + 0.5 * float(slope.layers[0].weight[0, 0])
    assert float(changed.layers[0].weight[0, 0]) == pytest.approx(expected)


def judged(reward: list[float]) -> eqx.nn.MLP:
    network, judge = line(0.3, 0.1), eqx.nn.MLP(3, 1, 4, 1, activation=jnp.tanh, key=KEY)
    past = lived(network, jnp.zeros(1), episode([1.0, -1.0, 0.5], [0.5, -0.2, 0.1], reward))
    return taught(network, manner(network, 0.5, judge), past, DISCOUNT)


def test_a_judge_knows_no_rewards() -> None:
    first, second = (eqx.filter(judged(r), eqx.is_array) for r in ([0.0, 0.0, 0.0], [5.0, -3.0, float("nan")]))
    assert all((a == b).all() for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True))


def test_a_judge_who_is_silent_leaves_the_offset() -> None:
    network, judge = line(0.3, 0.1), eqx.nn.MLP(3, 1, 4, 1, key=KEY)
    silent = jax.tree.map(lambda x: 0 * x if eqx.is_array(x) else x, judge)
    past = lived(network, jnp.zeros(1), episode([1.0], [0.5], [1.0]))
    changed = taught(network, manner(network, 0.5, silent), past, DISCOUNT)
    assert float(changed.layers[0].weight[0, 0]) == pytest.approx(0.3 + 0.25)


def test_a_judge_sees_what_came_some_periods_later_and_nothing_after_the_end() -> None:
    rows = episode([float(k) for k in range(8)], [0.0] * 8, [0.0] * 8)
    rows = rows._replace(alive=jnp.arange(8)[None] < 7)
    # After each observation comes one that is larger by a half; the last that counts is that after the seventh.
    expected = [min(k + AHEAD - 1, 6) + 0.5 for k in range(8)]
    np.testing.assert_allclose(later(rows)[0, :, 0], expected)


def test_rewards_to_go_are_discounted() -> None:
    np.testing.assert_allclose(to_go(jnp.array([[1.0, 2.0, 4.0]]), 0.5), [[3.0, 4.0, 4.0]])


def test_what_the_observation_foretells_is_no_gain() -> None:
    seen = jax.random.normal(KEY, (3, 40, 2))
    alive = jnp.ones((3, 40), bool)
    wanted = 2 + seen[..., 0] - 3 * seen[..., 1]
    np.testing.assert_allclose(baseline(seen, wanted, alive), wanted, atol=0.02)


def test_gains_are_deviations_and_nothing_counts_after_the_end() -> None:
    seen = jax.random.normal(KEY, (2, 30, 1))
    alive = jnp.arange(30)[None] < jnp.array([[30], [12]])
    rows = Rows(seen, seen, seen, jax.random.normal(jax.random.key(1), (2, 30)), alive)
    found = gains(rows, DISCOUNT)
    other = gains(rows._replace(reward=jnp.where(alive, rows.reward, 99.0)), DISCOUNT)
    assert (found[1, 12:] == 0).all()
    np.testing.assert_array_equal(found, other)
    inside = found[alive]
    assert float(inside.mean()) == pytest.approx(0, abs=1e-5)
    assert float(inside.std()) == pytest.approx(1, abs=1e-3)


def test_past_likelihoods_are_not_differentiated() -> None:
    rows = episode([0.0], [0.5], [0.0])
    slope = jax.grad(lambda b: lived(line(0.0, b), jnp.zeros(1), rows).likelihood.sum())(0.2)
    assert float(slope) == 0.0
    assert isinstance(lived(line(0.0, 0.2), jnp.zeros(1), rows), Lived)
