"""Policies that episodes change: they explore only where they should, and come back from disk to the last bit."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from gapless.core import GaplessError, Interface
from gapless.nets.policy import NetworkPolicy
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.nets.teachable import TeachableShape, new_teachable, teachable_shape_of
from gapless.tasks import SwingUp

INTERFACE = Interface("cartpole", 0.02, SwingUp.commands, SwingUp.measurements, ("slider", "hinge"))
KEY = jax.random.key(0)
SHAPES = [TeachableShape((8, 1)), TeachableShape((8, 1), judge=5), TeachableShape((8, 2), steps=3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_teachable_policy_comes_back_exactly(tmp_path: Path, shape: TeachableShape) -> None:
    policy = new_teachable(INTERFACE, SwingUp.observe, shape, KEY)
    save_policy(tmp_path, policy)
    loaded = load_policy(tmp_path)
    assert teachable_shape_of(loaded) == shape  # type: ignore[arg-type]
    assert jax.tree.structure(loaded) == jax.tree.structure(policy)
    pairs = zip(*(jax.tree.leaves(eqx.filter(p, eqx.is_array)) for p in (policy, loaded)), strict=True)
    assert all((a == b).all() and a.dtype == b.dtype for a, b in pairs)


def test_a_description_with_strange_steps_is_refused(tmp_path: Path) -> None:
    save_policy(tmp_path, new_teachable(INTERFACE, SwingUp.observe, SHAPES[2], KEY))
    path = tmp_path / "policy.json"
    path.write_text(path.read_text().replace('"steps": 3', '"steps": 100000'))
    with pytest.raises(GaplessError, match="not the description of a policy"):
        load_policy(tmp_path)


def test_who_learns_by_gradients_explores_given_a_key_and_only_then() -> None:
    policy = new_teachable(INTERFACE, SwingUp.observe, SHAPES[0], KEY)
    seen = jnp.zeros(len(policy.shift))
    still, again, other = (float(policy.think({}, seen, k)[1][0]) for k in (None, jax.random.key(1), jax.random.key(2)))
    assert len({still, again, other}) == 3


def test_who_tries_steps_does_not_explore() -> None:
    policy = new_teachable(INTERFACE, SwingUp.observe, SHAPES[2], KEY)
    seen = jnp.zeros(len(policy.shift))
    assert policy.think({}, seen, KEY)[1] == policy.think({}, seen)[1]


def test_the_policy_that_is_left_is_an_ordinary_one() -> None:
    policy = new_teachable(INTERFACE, SwingUp.observe, SHAPES[1], KEY)
    left, seen = policy.settled(policy.network), jnp.ones(len(policy.shift))
    assert type(left) is NetworkPolicy
    assert left.think({}, seen, KEY)[1] == policy.think({}, seen)[1]
