"""PPO: it learns what pays, repeats itself by its seed, and normalises by what was seen."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Task, Uniform
from gapless.nets.normaliser import new_normaliser, recalled, update
from gapless.nets.policy import NetworkPolicy
from gapless.nets.recall import Kind, unrolled
from gapless.simulators import JaxCartpole
from gapless.tasks import SwingUp
from gapless.train import Along, Checkpoint, Learning, Place, Ppo, Train, train
from gapless.train.experience import Experience
from gapless.train.judged import paid
from gapless.train.ppo import PpoRule, clipped, log_likelihood

SMALL = Ppo(worlds=16, steps=16, epochs=3, minibatches=2, hidden=(8, 1), budget=16 * 16 * 200)
Begin = Callable[..., Learning]
SMALL_BUDGET = replace(SMALL, budget=16 * 16 * 10)
DOUBT = Uniform(("pole.mass", "motor.gain"), np.array([0.1, 1.0]), np.array([0.2, 2.0]))


@pytest.fixture
def coarse(traced_cartpole: JaxCartpole) -> JaxCartpole:
    """One substep per period: it compiles in half the time."""
    return JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1)


@pytest.fixture
def training(push: Task) -> Begin:
    return lambda simulator, seed=0: SMALL.learning(Place(simulator, DOUBT, push), jax.random.key(seed))


def weights(policy: NetworkPolicy) -> list[np.ndarray]:
    return [np.asarray(x) for x in jax.tree.leaves(eqx.filter(policy, eqx.is_array))]


def test_it_learns_what_pays_within_seconds(coarse: JaxCartpole, training: Begin) -> None:
    run = training(coarse)
    rewards = [run.iterate(key)["reward"] / 0.02 for key in jax.random.split(jax.random.key(1), 30)]
    assert abs(rewards[0]) < 0.2
    assert np.mean(rewards[-5:]) > 0.5
    assert run.steps_done == 30 * 16 * 16


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
    again = train(coarse, DOUBT, push, recipe, jax.random.key(1), Along(first.policy))
    assert again.curve[0][0] == 0
    assert again.value >= again.curve[0][1]


def test_batches_that_do_not_divide_are_refused() -> None:
    with pytest.raises(GaplessError, match="3 worlds × 5 steps do not divide into 4 minibatches"):
        Ppo(worlds=3, steps=5)


def test_the_normalisation_of_a_trained_policy_outlasts_other_starts() -> None:
    """Fifty batches far from what it has seen: weights that do not change must go on meaning what they meant."""
    seen = recalled(jnp.array([1.0]), jnp.array([2.0]))
    for key in jax.random.split(jax.random.key(0), 50):
        seen = update(seen, 5.0 + jax.random.normal(key, (2048, 1)))
    assert float(seen.shift[0]) == pytest.approx(1.0, abs=1e-3)
    assert float(seen.scale[0]) == pytest.approx(2.0, rel=1e-2)


def test_the_normaliser_has_the_moments_of_all_that_it_saw() -> None:
    rng = np.random.default_rng(0)
    batches = [rng.normal(3.0, 2.0, (n, 2)) * [1.0, 0.01] for n in (50, 1, 700)]
    seen = new_normaliser(2)
    for batch in batches:
        seen = update(seen, jnp.asarray(batch))
    everything = np.concatenate(batches)
    assert np.allclose(seen.mean, everything.mean(axis=0), rtol=1e-3)
    assert np.allclose(seen.variance, everything.var(axis=0), rtol=1e-3, atol=2e-5)


@pytest.mark.parametrize("network", ["gru", *(pytest.param(n, marks=pytest.mark.slow) for n in ("lstm", "attention"))])
def test_networks_with_memory_learn_what_pays(coarse: JaxCartpole, push: Task, network: Kind) -> None:
    recipe = replace(SMALL, network=network)
    run = recipe.learning(Place(coarse, DOUBT, push), jax.random.key(0))
    rewards = [run.iterate(key)["reward"] / 0.02 for key in jax.random.split(jax.random.key(1), 20)]
    assert np.mean(rewards[-5:]) > rewards[0] + 0.3


def test_stretches_are_answered_as_the_policy_answered_them(coarse: JaxCartpole, push: Task) -> None:
    """Before any update, the likelihood of what was done is exactly what it was when it was done."""
    place = Place(coarse, DOUBT, push)
    rule = PpoRule(replace(SMALL, network="gru"), place, None)
    learner = rule.new(jax.random.key(0))
    worlds, weights = Experience(place, SMALL.worlds, learner.policy, rule.decide), rule.weights(learner)
    held, _ = worlds.drive(weights, worlds.begin(weights, jax.random.key(1)), jax.random.key(2), 20)
    _, batch = worlds.drive(weights, held, jax.random.key(3), 20)
    assert batch["fresh"].any()
    begun = jax.tree.map(lambda x: x[0], batch["hidden"])
    centre = jnp.tanh(unrolled(learner.policy.network, begun, batch["seen"], batch["fresh"]))
    old = -0.5 * (batch["noise"] ** 2).sum(-1) - learner.log_noise.sum()
    assert np.asarray(log_likelihood(batch["unit"], centre, learner.log_noise)) == pytest.approx(
        np.asarray(old), abs=1e-3
    )


def test_the_clipped_objective_is_what_the_paper_says() -> None:
    # Ratios 1.5 and 0.5: a gain of 2 pays for 1.2 at most, a loss of 2 is not softened below 0.8.
    loss, kl = clipped(jnp.log(jnp.array([1.5, 0.5])), jnp.zeros(2), jnp.array([2.0, -2.0]), 0.2)
    assert float(loss) == pytest.approx(-(1.2 * 2.0 - 0.8 * 2.0) / 2)
    assert float(kl) == pytest.approx((0.5 - np.log(1.5) - 0.5 - np.log(0.5)) / 2)


@pytest.mark.slow
def test_symmetry_is_learnt_where_the_task_names_its_mirror(coarse: JaxCartpole, push: Task) -> None:
    with pytest.raises(GaplessError, match="names no mirror"):
        replace(SMALL, symmetry=1.0).learning(Place(coarse, DOUBT, push), jax.random.key(0))
    odd = {}
    for weight in (0.0, 10.0):
        run = replace(SMALL, symmetry=weight).learning(Place(coarse, DOUBT, SwingUp()), jax.random.key(0))
        run.iterate(jax.random.key(1), 8)
        seen = np.asarray(jax.random.normal(jax.random.key(2), (64, len(run.policy.shift))))
        signs = SwingUp.observe.mirror(coarse.interface, SwingUp.mirror)
        unit, mirrored = (jax.vmap(run.policy.think, (None, 0))({}, rows)[1] for rows in (seen, seen * signs))
        odd[weight] = float(jnp.abs(unit + mirrored).mean())
    assert odd[10.0] < 0.7 * odd[0.0]


def test_a_price_on_jumps_and_effort_is_taken_off_the_reward() -> None:
    batch = {
        "reward": jnp.array([[1.0]]), "doubt": jnp.zeros((1, 1)), "change": jnp.array([[4.0]]), "unit": jnp.array([[[3.0]]]),
    }  # fmt: skip
    left = paid(batch, replace(SMALL, smooth=0.5, energy=0.25), 0.02)
    assert float(left[0, 0]) == pytest.approx(1.0 - 0.02 * (0.5 * 4.0 + 0.25 * 1.0))


def test_a_policy_that_is_told_params_answers_to_them_and_cannot_leave(coarse: JaxCartpole, push: Task) -> None:
    recipe = replace(SMALL, told=("motor.gain",))
    run = recipe.learning(Place(coarse, DOUBT, push), jax.random.key(0))
    run.iterate(jax.random.key(1), 2)
    memory, seen = run.policy.init(jax.random.key(0)), {"pole.angle": jnp.zeros(1), "cart.position": jnp.zeros(1)}
    sent = [
        run.policy.step({"motor.gain": jnp.asarray(gain)}, memory, seen, 0.02, jax.random.key(0))[1]["motor"]
        for gain in (1.0, 2.0)
    ]
    assert float(sent[0][0]) != float(sent[1][0])
    with pytest.raises(GaplessError, match=r"must be told 'motor\.gain'"):
        run.policy.step({}, memory, seen, 0.02, jax.random.key(0))


def test_a_training_that_was_interrupted_goes_on_as_one_that_was_not(
    coarse: JaxCartpole, push: Task, tmp_path: Path
) -> None:
    recipe = Train(replace(SMALL, budget=16 * 16 * 6), looks=3, worlds=4, patience=9)
    whole = train(coarse, DOUBT, push, recipe, jax.random.key(0))
    along = Along(checkpoint=Checkpoint(tmp_path / "kept"), tell=_interrupt)
    with pytest.raises(KeyboardInterrupt):
        train(coarse, DOUBT, push, recipe, jax.random.key(0), along)
    told: list[int] = []
    along = replace(along, tell=lambda steps, figures: told.append(steps))
    again = train(coarse, DOUBT, push, recipe, jax.random.key(0), along)
    assert told == [16 * 16 * 6]
    assert again.curve == whole.curve
    assert all((a == b).all() for a, b in zip(weights(again.policy), weights(whole.policy), strict=True))
    (tmp_path / "kept/looks.json").write_text("[[1")
    learner = recipe.method.learning(Place(coarse, DOUBT, push), jax.random.key(0))
    assert Checkpoint(tmp_path / "kept").read(learner.learner, learner.policy, []) == (learner.learner, [])


def _interrupt(steps: int, figures: dict[str, float]) -> None:
    if steps >= 16 * 16 * 4:
        raise KeyboardInterrupt
