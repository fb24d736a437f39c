"""Doubt: members that agree have none, and errors are against what really came."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import pytest

from gapless.simulators import MujocoSimulator
from gapless.simulators.neural import Clone, Skeleton
from gapless.simulators.neural.doubt import Periods, disagreement, doubt

Untaught = Callable[[MujocoSimulator, int], Clone]


@pytest.fixture
def periods(cartpole: MujocoSimulator) -> Periods:
    rng, free = np.random.default_rng(0), sum(p.free for p in cartpole.physical)
    widths = (2, 2, 2, free, 2)
    return Periods(*(rng.normal(size=(6, n)).astype(np.float32) for n in widths))


def test_disagreement_is_that_of_the_joint_about_which_members_differ_most() -> None:
    velocities = jnp.array([[[0.0, 1.0]], [[0.2, 5.0]]])
    assert disagreement(velocities, jnp.array([0.1, 4.0])) == pytest.approx(np.array([[1.0]]))


@pytest.mark.slow
def test_members_that_agree_have_no_doubt_and_can_still_be_wrong(
    cartpole: MujocoSimulator, untaught: Untaught, periods: Periods
) -> None:
    skeleton = Skeleton(cartpole.model, cartpole.interface.period_s)
    twins, pair = ([untaught(cartpole, k) for k in seeds] for seeds in ((0, 0), (0, 1)))
    same, other = doubt(twins, skeleton, periods), doubt(pair, skeleton, periods)
    assert same.disagreement == pytest.approx(np.zeros(6), abs=1e-5)
    assert (other.disagreement > 1e-4).all()
    alone = [doubt([member], skeleton, periods).error for member in pair]
    assert other.error == pytest.approx(np.mean(alone, 0), rel=1e-4)
    right = twins[0].advance(skeleton, twins[0].modulation(periods.shares), periods[:2], periods.control)[1]
    assert doubt(twins, skeleton, periods._replace(after=np.asarray(right))).error == pytest.approx(
        np.zeros(6), abs=1e-4
    )
