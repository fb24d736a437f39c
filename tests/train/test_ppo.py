"""PPO: it learns what pays, repeats itself by its seed, and normalises by what was seen."""

from collections.abc import Callable
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Task, Uniform
from gapless.nets.normaliser import new_normaliser, update
from gapless.nets.policy import NetworkPolicy
from gapless.simulators import JaxCartpole
from gapless.train import Ppo, Train, train
from gapless.train.ppo import Training

SMALL = Ppo(worlds=16, steps=16, epochs=3, minibatches=2, hidden=(8, 1), budget=16 * 16 * 200)
Begin = Callable[..., Training]
SMALL_BUDGET = replace(SMALL, budget=16 * 16 * 10)
DOUBT = Uniform(("pole.mass", "motor.gain"), np.array([0.1, 1.0]), np.array([0.2, 2.0]))


@pytest.fixture
def coarse(traced_cartpole: JaxCartpole) -> JaxCartpole:
    """One substep per period: it compiles in half the time."""
    return JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1)


@pytest.fixture
def training(push: Task) -> Begin:
    return lambda simulator, seed=0: Training(simulator, DOUBT, push, SMALL, jax.random.key(seed))


def weights(policy: NetworkPolicy) -> list[np.ndarray]:
    return [np.asarray(x) for x in jax.tree.leaves(eqx.filter(policy, eqx.is_array))]


def test_it_learns_what_pays_within_seconds(coarse: JaxCartpole, training: Begin) -> None:
    run = training(coarse)
    rewards = [run.iterate(key, 5)["reward"] / 0.02 for key in jax.random.split(jax.random.key(1), 6)]
    assert abs(rewards[0]) < 0.2
    assert rewards[-1] > 0.5
    assert run.steps_done == 6 * 5 * 16 * 16


def test_one_seed_gives_one_policy_and_another_seed_another(coarse: JaxCartpole, training: Begin) -> None:
    found = []
    for seed in (0, 0, 1):
        run = training(coarse, seed)
        run.iterate(jax.random.key(seed), 5)
        found.append(weights(run.learner.policy))
    assert all((one == same).all() for one, same in zip(found[0], found[1], strict=True))
    assert any((one != other).any() for one, other in zip(found[0], found[2], strict=True))


def test_a_policy_keeps_the_normalisation_of_what_it_saw(coarse: JaxCartpole, training: Begin) -> None:
    run = training(coarse)
    run.iterate(jax.random.key(0), 5)
    policy, seen = run.learner.policy, run.learner.observed
    assert np.allclose(policy.shift, seen.mean)
    assert np.allclose(policy.scale, 1 / np.sqrt(np.asarray(seen.variance) + 1e-6))
    assert float(seen.count) == pytest.approx(5 * 16 * 16, rel=1e-3)


@pytest.mark.slow
def test_training_keeps_the_best_policy_and_never_a_worse_one_than_it_began_with(
    coarse: JaxCartpole, push: Task
) -> None:
    recipe = Train(SMALL_BUDGET, looks=2, worlds=4)
    first = train(coarse, DOUBT, push, recipe, jax.random.key(0))
    assert first.value == max(value for _, value in first.curve)
    assert first.passed == 1.0
    again = train(coarse, DOUBT, push, recipe, jax.random.key(1), begin_with=first.policy)
    assert again.curve[0][0] == 0
    assert again.value >= again.curve[0][1]


def test_batches_that_do_not_divide_are_refused() -> None:
    with pytest.raises(GaplessError, match="3 worlds × 5 steps do not divide into 4 minibatches"):
        Ppo(worlds=3, steps=5)


def test_the_normaliser_has_the_moments_of_all_that_it_saw() -> None:
    rng = np.random.default_rng(0)
    batches = [rng.normal(3.0, 2.0, (n, 2)) * [1.0, 0.01] for n in (50, 1, 700)]
    seen = new_normaliser(2)
    for batch in batches:
        seen = update(seen, jnp.asarray(batch))
    everything = np.concatenate(batches)
    assert np.allclose(seen.mean, everything.mean(axis=0), rtol=1e-3)
    assert np.allclose(seen.variance, everything.var(axis=0), rtol=1e-3, atol=2e-5)
