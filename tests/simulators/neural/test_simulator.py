"""A robot that a network steps keeps the contract, and what surrounds the network is what surrounds MuJoCo."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Uniform, prior_belief
from gapless.core.conformance import check_belief, check_simulator
from gapless.simulators import MujocoSimulator, Rollout
from gapless.simulators.latency import hold_weights
from gapless.simulators.neural import MEMBER, Clone, CloneSimulator, over_members
from gapless.simulators.neural.commands import moment_weights, moments
from gapless.simulators.neural.simulator import DISAGREEMENT, hermite
from gapless.simulators.neural.stored import cloned, clones_of_robot, load_family, save_family
from gapless.tasks import SwingUp
from gapless.train import Ppo, Train, train

Untaught = Callable[[MujocoSimulator, int], Clone]


@pytest.fixture
def pair(cartpole: MujocoSimulator, untaught: Untaught) -> CloneSimulator:
    return CloneSimulator(cartpole, [untaught(cartpole, k) for k in range(2)])


def test_a_clone_keeps_the_laws_of_simulators(cartpole: MujocoSimulator, untaught: Untaught) -> None:
    assert check_simulator(CloneSimulator(cartpole, [untaught(cartpole, 0)])) == []


@pytest.mark.slow
def test_an_ensemble_keeps_them_too(pair: CloneSimulator) -> None:
    assert check_simulator(pair) == []


def test_commands_are_delayed_as_around_mujoco() -> None:
    latency, rng = np.array([0.0, 0.013, 0.047]), np.random.default_rng(0)
    weights = hold_weights(latency, 0.02, 5, 4)
    past = rng.normal(size=(3, 4, 2))
    substeps = np.einsum("wsp,wpc->wsc", weights, past)
    found = np.einsum("wmp,wpc->wmc", moment_weights(jnp.asarray(latency), 0.02, 5, 4), past).reshape(3, -1)
    assert np.allclose(found, moments(jnp.asarray(substeps)[:, None])[:, 0], atol=1e-5)
    assert np.allclose(found[:, :2], substeps.mean(1), atol=1e-5)


@pytest.mark.slow
def test_each_world_is_stepped_by_the_member_that_its_parameter_names(pair: CloneSimulator) -> None:
    many, alone = pair.with_worlds(3), pair.with_worlds(1)
    command = np.full((3, 1), 5.0)
    state, _, _ = many.reset(many.init(), np.ones(3, bool), {MEMBER: np.array([0.0, 1.0, 0.0])}, {}, jax.random.key(0))
    seen = np.asarray(many.step(state, {"motor": command}, jax.random.key(0))[1]["pole.angle"])
    for member in (0, 1):
        state, _, _ = alone.reset(alone.init(), np.ones(1, bool), {MEMBER: np.array([member])}, {}, jax.random.key(0))
        one = np.asarray(alone.step(state, {"motor": command[:1]}, jax.random.key(0))[1]["pole.angle"])
        assert np.allclose(one[0], seen[member], atol=1e-6)
    assert seen[0] == seen[2] != seen[1]


def test_between_two_members_all_have_their_share(pair: CloneSimulator) -> None:
    three = pair.with_worlds(3)
    member = {MEMBER: np.array([0.0, 0.5, 1.0])}
    state, _, _ = three.reset(three.init(), np.ones(3, bool), member, {}, jax.random.key(0))
    seen = np.asarray(three.step(state, {"motor": np.full((3, 1), 5.0)}, jax.random.key(0))[1]["pole.angle"])
    assert seen[0] != seen[2]
    assert seen[1] == pytest.approx((seen[0] + seen[2]) / 2, abs=1e-7)


def test_members_that_agree_disagree_by_nothing(
    cartpole: MujocoSimulator, untaught: Untaught, pair: CloneSimulator
) -> None:
    twins = CloneSimulator(cartpole, [untaught(cartpole, 0)] * 2)
    for simulator, differ in ((twins, False), (pair, True)):
        state, _, _ = simulator.reset(simulator.init(), np.ones(1, bool), {}, {}, jax.random.key(0))
        known = simulator.step(state, {"motor": np.ones((1, 1))}, jax.random.key(0))[2]
        assert bool(np.asarray(known[DISAGREEMENT]) > 1e-6) == differ


def test_parameters_reach_the_network(pair: CloneSimulator) -> None:
    two = pair.with_worlds(2)
    state, _, _ = two.reset(two.init(), np.ones(2, bool), {"pole.mass": np.array([0.1, 0.3])}, {}, jax.random.key(0))
    seen = two.step(state, {"motor": np.ones((2, 1))}, jax.random.key(0))[1]["pole.angle"]
    assert seen[0] != seen[1]


def test_a_belief_over_members_is_a_belief(pair: CloneSimulator) -> None:
    free = [p for p in pair.parameters if p.free]
    even = Uniform(tuple(p.name for p in free), *(np.array([getattr(p, s) for p in free]) for s in ("low", "high")))
    assert check_belief(over_members(even, pair)) == []


def test_what_a_clone_does_not_know_is_refused(pair: CloneSimulator) -> None:
    with pytest.raises(GaplessError, match=r"cart\.mass"):
        pair.reset(pair.init(), np.ones(1, bool), {"cart.mass": np.ones(1)}, {}, jax.random.key(0))
    with pytest.raises(GaplessError, match="wheel"):
        pair.reset(pair.init(), np.ones(1, bool), {}, {"wheel.position": np.ones((1, 1))}, jax.random.key(0))


def test_between_periods_motion_is_as_smooth_as_its_ends_say() -> None:
    times = np.linspace(0, 1, 5)
    position, velocity = (times**3)[None, :, None], (3 * times**2)[None, :, None]
    at = np.array([[0.5, 1.25, 3.9]])
    assert np.allclose(hermite(position, velocity, at, 0.25)[0, :, 0], (at[0] * 0.25) ** 3)


@pytest.mark.slow
def test_policies_train_in_a_clone_by_the_same_call(pair: CloneSimulator) -> None:
    recipe = Train(Ppo(worlds=8, steps=8, minibatches=2, epochs=1, hidden=(8, 1), budget=128), looks=1, worlds=2)
    found = train(pair, over_members(prior_belief(pair.parameters), pair), SwingUp(), recipe, jax.random.key(0))
    episodes = Rollout(pair.with_worlds(2), SwingUp()).run(found.policy, {}, jax.random.key(0))
    assert np.isfinite(episodes.returns).all()


def test_stored_clones_come_back_exactly(tmp_path: Path, cartpole: MujocoSimulator, untaught: Untaught) -> None:
    one = untaught(cartpole, 0)
    save_family(tmp_path, [{"cartpole": one}, {"cartpole": untaught(cartpole, 1)}], taught={"cartpole": cartpole})
    back = load_family(tmp_path)
    assert len(back) == 2
    leaves = zip(jax.tree.leaves(one), jax.tree.leaves(back[0]["cartpole"]), strict=True)
    assert all(np.array_equal(a, b) for a, b in leaves)
    with pytest.raises(GaplessError, match="there is: cartpole"):
        clones_of_robot("hopper", tmp_path)


def test_a_clone_of_another_robot_is_refused(tmp_path: Path, cartpole: MujocoSimulator, untaught: Untaught) -> None:
    save_family(tmp_path, [{"cartpole": untaught(cartpole, 0)}], taught={"cartpole": cartpole})
    assert cloned(cartpole, tmp_path).members == 1
    wider = tuple(replace(p, high=2 * p.high) if p.name == "motor.gain" else p for p in cartpole.parameters)
    with pytest.raises(GaplessError, match="other parameters"):
        cloned(MujocoSimulator(cartpole.model, cartpole.interface, wider), tmp_path)
    fewer = tuple(replace(p, free=p.name != "motor.gain" and p.free) for p in cartpole.parameters)
    with pytest.raises(GaplessError, match="free parameters"):
        CloneSimulator(MujocoSimulator(cartpole.model, cartpole.interface, fewer), [untaught(cartpole, 0)])
