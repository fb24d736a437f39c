"""Pushes: none without their parameter, harder with more of it, and for as long as they last."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.simulators import MujocoSimulator
from gapless.train.randomization import Pushes, adaptive, classic, with_pushes


def moved(simulator: MujocoSimulator, push: float) -> np.ndarray:
    """How far two resting pendulums are from rest after a second."""
    wide = simulator.with_worlds(2)
    state, _, told = wide.reset(wide.init(), np.ones(2, bool), {"hinge.push": np.full(2, push)}, {}, jax.random.key(0))
    for key in np.random.default_rng(0).integers(0, 2**32, (50, 2), dtype=np.uint32):
        state, _, told = wide.step(state, {"motor": np.zeros((2, 1))}, key)
    return np.abs(told["hinge.position"][:, 0])


def test_a_robot_is_pushed_as_hard_as_its_parameter_says(pendulum: MujocoSimulator) -> None:
    pushed = with_pushes(pendulum, {"hinge": 0.5}, every_s=0.2)
    still, gentle, hard = (moved(pushed, push) for push in (0.0, 0.1, 0.5))
    assert still == pytest.approx(np.zeros(2), abs=1e-9)
    assert (gentle > 0).all() and (hard > 2 * gentle).all()
    assert gentle[0] != gentle[1]


def test_a_push_lasts_as_long_as_it_should_and_then_ends() -> None:
    block = Pushes(("hinge",), every_s=1e-9, lasts_s=0.05)
    memory, forces, step = block.init(jax.random.key(0)), [], jax.jit(block.step)
    for k in range(9):
        memory, out = step({"hinge.push": jnp.asarray(2.0)}, memory, {}, 0.02, jax.random.key(k))
        forces.append(float(out["hinge.force"][0]))
    # It begins at once, is 0.05 s long in periods of 0.02 s, and the next begins when it is over.
    assert forces[0] == forces[1] == forces[2] != forces[3]
    assert np.abs(forces).max() <= 2.0


def test_the_classic_table_knows_pushes(pendulum: MujocoSimulator) -> None:
    belief = classic(with_pushes(pendulum, {"hinge": 0.5}).parameters)
    assert belief.high[belief.names.index("hinge.push")] == 0.5


def test_pushes_grow_with_the_ranges_that_adapt(pendulum: MujocoSimulator) -> None:
    ranges = adaptive(with_pushes(pendulum, {"hinge": 0.5}).parameters)
    edge = ("hinge.push", "high")
    assert edge in ranges.edges and ("hinge.push", "low") not in ranges.edges  # there is nothing below no push
    assert ranges.at(edge) == 0.0
    assert ranges.told({edge: [True] * 20}).at(edge) == pytest.approx(0.05)


def test_what_cannot_be_pushed_is_refused(pendulum: MujocoSimulator) -> None:
    with pytest.raises(GaplessError, match="no joint 'knee'"):
        with_pushes(pendulum, {"knee": 1.0})
    with pytest.raises(GaplessError, match="a residual beside its physics already"):
        with_pushes(with_pushes(pendulum, {"hinge": 1.0}), {"hinge": 1.0})
