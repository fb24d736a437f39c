"""A task that nobody wrote is learned like any other."""

import jax
import numpy as np
import pytest

from gapless.core import Uniform
from gapless.nets.policy import new_policy
from gapless.simulators import JaxCartpole, stretches
from gapless.tasks import generate
from gapless.train import Look, Ppo, Train, train

BRIEF = Ppo(worlds=32, steps=16, epochs=4, minibatches=4, hidden=(16, 1), budget=32 * 16 * 80)


@pytest.mark.slow
def test_a_few_seconds_of_training_bring_the_cart_to_where_it_should_be(traced_cartpole: JaxCartpole) -> None:
    coarse = JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1)
    task = generate("reach:cart.position=0.15", coarse.interface, stretches(coarse))
    belief = Uniform(("motor.gain",), np.array([1.4]), np.array([1.6]))
    untrained = new_policy(coarse.interface, task.observe, BRIEF.shape, jax.random.key(0))
    before, _ = Look(coarse, belief, task, 8, jax.random.key(0)).at(untrained)
    found = train(coarse, belief, task, Train(BRIEF, looks=2, worlds=8), jax.random.key(1))
    assert found.value > before + 0.8
