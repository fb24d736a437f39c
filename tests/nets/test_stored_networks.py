"""Every kind of policy comes back from disk to the last bit."""

from pathlib import Path
from typing import get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Interface
from gapless.nets.policy import NetworkPolicy, Shape, new_policy, shape_of
from gapless.nets.recall import Kind
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.tasks import SwingUp

INTERFACE = Interface("cartpole", 0.02, SwingUp.commands, SwingUp.measurements, ("slider", "hinge"))


def filled(shape: Shape) -> NetworkPolicy:
    """A policy with random weights, which compiles nothing."""
    noise = np.random.default_rng(0)
    shapes = eqx.filter_eval_shape(lambda key: new_policy(INTERFACE, SwingUp.observe, shape, key), jax.random.key(0))
    arrays, rest = eqx.partition(shapes, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    return eqx.combine(jax.tree.map(lambda x: jnp.asarray(noise.normal(size=x.shape), x.dtype), arrays), rest)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_policy_of_any_kind_comes_back_exactly(tmp_path: Path, kind: Kind) -> None:
    told = ("motor.gain",) if kind == "encoded" else ()
    policy = filled(Shape((8, 1), kind, told))
    save_policy(tmp_path, policy)
    loaded = load_policy(tmp_path)
    assert shape_of(loaded) == Shape((8, 1), kind, told)
    assert jax.tree.structure(loaded) == jax.tree.structure(policy)
    pairs = zip(*(jax.tree.leaves(eqx.filter(p, eqx.is_array)) for p in (policy, loaded)), strict=True)
    assert all((a == b).all() and a.dtype == b.dtype for a, b in pairs)
