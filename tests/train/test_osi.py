"""A universal policy with online identification: what is estimated are the params, and the policy lives by them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.train import Look, Place, Ppo, UpOsi
from gapless.train.osi import REACH

KEY = jax.random.key(0)
SMALL = UpOsi(worlds=32, steps=20, budget=32 * 20 * 50)


def knowing(place: Place) -> NetworkPolicy:
    """A universal policy that needs no training: it pulls the way that it is told the rail leans."""
    shape = Shape((16, 0), told=("gravity.tilt_x",))
    policy = new_policy(place.simulator.interface, place.task.observe, shape, KEY)
    policy = policy.with_eyes(jnp.zeros(2), jnp.array([5.0, 4.0]))
    weights = jnp.array([[0.0, 5.0]]), jnp.zeros(1)
    return eqx.tree_at(lambda p: (p.network.layers[0].weight, p.network.layers[0].bias), policy, weights)


@pytest.mark.slow
def test_estimates_find_what_the_universal_policy_was_told(leaning: Place) -> None:
    universal, look = knowing(leaning), Look(*leaning[:3], 64, KEY)
    run = SMALL.identifying(leaning, universal, KEY)
    begun, last = run.policy, {}
    for key in jax.random.split(jax.random.key(1), 50):
        last = run.iterate(key)
    assert not run.policy.told
    assert look.at(run.policy)[0] > 0.75 * look.at(universal)[0] > look.at(begun)[0]
    # The tilt is uniform over ±0.4, and ±1 is three deviations of 0.4 / √3: a blind guess would miss by a square of 1/9.
    assert last["missed"] < 0.5 * (0.4 / np.sqrt(3) / (REACH * 0.4 / np.sqrt(3))) ** 2


def test_a_universal_policy_with_memory_is_refused() -> None:
    with pytest.raises(GaplessError, match="cannot be 'gru'"):
        UpOsi(universal=Ppo(network="gru"))
