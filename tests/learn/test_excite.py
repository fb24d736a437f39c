"""Motions that teach and stay inside the limits."""

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

from gapless.core import GaplessError, prior_belief
from gapless.learn import Excite, excite
from gapless.robots.cartpole import INTERFACE
from gapless.simulators import MujocoSimulator, load_model, read_parameters

MODELS = Path(__file__).parents[2] / "src/gapless/robots/models"
SMALL = Excite(candidates=8, doubts=3)


@pytest.fixture(scope="module")
def cartpole() -> MujocoSimulator:
    parameters = read_parameters(MODELS / "cartpole.toml")
    return MujocoSimulator(load_model(MODELS / "cartpole.xml"), INTERFACE, parameters)


@pytest.mark.parametrize("seed", range(3))
def test_a_motion_is_found_inside_the_command_limits(cartpole: MujocoSimulator, seed: int) -> None:
    motion = excite(cartpole, prior_belief(cartpole.parameters), INTERFACE, 3.0, SMALL, jax.random.key(seed))
    assert np.abs(np.asarray(motion.rows)).max() <= 10.0
    assert np.asarray(motion.rows).std() > 0.1


def test_a_cart_pushed_aside_is_pulled_back(cartpole: MujocoSimulator) -> None:
    motion = excite(cartpole, prior_belief(cartpole.parameters), INTERFACE, 3.0, SMALL, jax.random.key(0))
    pulls = []
    for place in (-0.2, 0.2):
        seen = {"cart.position": np.array([place]), "pole.angle": np.zeros(1)}
        pulls.append(
            float(motion.step({}, motion.init(jax.random.key(0)), seen, 0.02, jax.random.key(0))[1]["motor"][0])
        )
    assert pulls[0] > pulls[1]


def test_limits_that_nothing_can_keep_are_named(cartpole: MujocoSimulator) -> None:
    narrow = tuple(replace(c, low=-1e-9, high=1e-9) for c in INTERFACE.measurements)
    with pytest.raises(GaplessError, match="stays inside the limits"):
        excite(
            cartpole,
            prior_belief(cartpole.parameters),
            replace(INTERFACE, measurements=narrow),
            1.0,
            SMALL,
            jax.random.key(0),
        )
