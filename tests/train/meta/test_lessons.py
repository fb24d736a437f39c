"""What is asked after an inner step, by hand: the guide's commands, in every world alike, and nothing where it was over."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Channel, Feature, Interface, Observation
from gapless.nets.policy import Shape, new_policy
from gapless.nets.teachable import ByGradient
from gapless.train.meta.inner import lived
from gapless.train.meta.lessons import by_guide, guided
from gapless.train.meta.trials import Rows

KEY = jax.random.key(0)
INTERFACE = Interface("cart", 0.1, (Channel("motor", low=-2.0, high=2.0),), (Channel("at"),), ("slider",))


def silent(network: eqx.nn.MLP, offset: float) -> ByGradient:
    """A manner whose judge is never heard: only its offset moves the network."""
    arrays = eqx.filter(network, eqx.is_array)
    judge = eqx.nn.MLP(3, 1, 4, 1, key=KEY)
    unheard = jax.tree.map(lambda x: 0 * x if eqx.is_array(x) else x, judge)
    zeros = jax.tree.map(jnp.zeros_like, arrays)
    moves = eqx.tree_at(lambda n: n.layers[0].bias, zeros, jnp.full(1, offset))
    return ByGradient(jnp.zeros(1), zeros, moves, unheard)


def still() -> eqx.nn.MLP:
    network = eqx.nn.MLP(1, 1, 1, 0, key=KEY)
    return jax.tree.map(lambda x: 0 * x if eqx.is_array(x) else x, network)


def rows(alive: list[list[bool]]) -> Rows:
    """One episode in each of several worlds, as (world, 1, step, …)."""
    lasts = jnp.asarray(alive)[:, None]
    seen = jnp.ones((*lasts.shape, 1))
    return Rows(seen, seen, seen, jnp.zeros(lasts.shape), lasts)


def test_a_lesson_is_how_far_the_commands_after_the_step_are_from_the_guides() -> None:
    network, offset = still(), float(np.arctanh(0.5))
    futures = rows([[True, True], [True, False]])
    pasts = jax.vmap(lambda r: lived(network, jnp.zeros(1), r))(futures)
    labels = jnp.array([[[[1.0], [0.0]]], [[[-0.5], [9.0]]]])
    lesson = by_guide(labels, pasts, futures, 0.9)
    # The step adds the offset alone, so that all commands are 0.5: means of 0.5² and 0.5², and of 1² where it went on.
    found = eqx.filter_jit(lesson)((network, silent(network, offset), jnp.zeros(1)))
    assert float(found) == pytest.approx((0.25 + 1.0) / 2, rel=1e-5)


def test_a_guide_is_told_the_params_of_each_world() -> None:
    observe = Observation((Feature("at"),), commands=0)
    guide = new_policy(INTERFACE, observe, Shape((4, 0), told=("motor.gain",)), KEY)
    weights = jnp.array([[2.0, 3.0]]), jnp.zeros(1)
    guide = eqx.tree_at(lambda p: (p.network.layers[0].weight, p.network.layers[0].bias), guide, weights)
    seen = jnp.array([0.1, 0.2]).reshape(1, 1, 2, 1) * jnp.ones((2, 1, 1, 1))
    found = guided(guide, {"motor.gain": jnp.array([0.5, -0.5])}, seen)
    expected = np.tanh([[0.2 + 1.5, 0.4 + 1.5], [0.2 - 1.5, 0.4 - 1.5]])
    np.testing.assert_allclose(found[:, 0, :, 0], expected, rtol=1e-5)
