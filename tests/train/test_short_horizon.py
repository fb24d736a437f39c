"""Gradients through the physics: worked out by hand, cut off at ends, and refused where there are none."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from gapless.core import (
    Channel,
    Feature,
    GaplessError,
    Interface,
    Log,
    Observation,
    Params,
    Point,
    Signals,
    Task,
    Uniform,
    Verdict,
)
from gapless.nets.policy import Shape, new_policy
from gapless.simulators import JaxCartpole, MujocoSimulator, propose_interface
from gapless.simulators.neural import CloneSimulator
from gapless.simulators.neural.stored import clones_of_robot
from gapless.simulators.traceable import TraceableSimulator
from gapless.tasks import SwingUp
from gapless.train import Place, ShortHorizon
from gapless.train.short_horizon import Windows, windowed

DOUBT = Uniform(("pole.mass", "motor.gain"), np.array([0.1, 1.0]), np.array([0.2, 2.0]))
SMALL = ShortHorizon(worlds=8, steps=8, hidden=(8, 1), epochs=2, minibatches=2, rate=5e-2, budget=8 * 8 * 40)
NOWHERE = Point((), np.zeros(0))


class Point1d(TraceableSimulator):
    """A place that moves by its command: as linear as can be."""

    joints = ("place",)
    sensed = {"place": ("place", "position")}  # noqa: RUF012

    @staticmethod
    def advance(params: Params, position: Any, velocity: Any, control: Any, step_s: float) -> tuple[Any, Any]:
        return position + step_s * control, velocity


class Near(Task):
    """The nearer to 1, the better."""

    name = "near"
    seconds = 100.0
    commands = (Channel("push", low=-1.0, high=1.0),)
    measurements = (Channel("place"),)
    observe = Observation((Feature("place"),), commands=0)

    def start(self, key: Any, n: int) -> Signals:
        return {"place.position": jnp.full((n, 1), 0.2)}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
        return -((1 - after["place"][..., 0]) ** 2)

    def finished(self, measurement: Signals) -> Any:
        return measurement["place"][..., 0] > 99.0

    def judge(self, log: Log) -> Verdict:
        return Verdict(True, 1.0, "near")


@pytest.fixture
def line() -> Place:
    interface = Interface("line", 1.0, Near.commands, Near.measurements)
    return Place(Point1d(interface, (), 1), NOWHERE, Near())


def test_a_window_sums_each_episode_from_its_own_beginning() -> None:
    reward = jnp.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [4.0, 4.0, 4.0]])
    cut = jnp.zeros((3, 3), bool).at[1, 1:].set(True)
    finished = cut.at[1, 1].set(False)
    found = np.asarray(windowed(reward, jnp.full((3, 3), 8.0), finished, cut, (0.5, 1.0)))
    # It goes on; time runs out after the second period; it ends there.
    assert found.tolist() == [1 + 1 + 1 + 1, (1 + 1 + 0.25 * 8) + (4 + 0.5 * 8), (1 + 1) + (4 + 0.5 * 8)]


def test_a_window_that_asks_its_critic_on_the_way_mixes_both_answers() -> None:
    reward, value, no = jnp.array([[1.0], [2.0]]), jnp.array([[8.0], [4.0]]), jnp.zeros((2, 1), bool)
    # The second period is worth 2 + 0.5 · 4 = 4; after the first one come 8 or 4, which is 6.
    assert float(windowed(reward, value, no, no, (0.5, 0.5))[0]) == 1 + 0.5 * 6


def test_the_gradient_of_a_two_step_return_is_the_one_worked_out_by_hand(line: Place) -> None:
    """From 0.2, the command c that is already under way leads to x₁ = 0.2 + c, the next one to x₂ = x₁ + tanh(w x₁ + b)."""
    recipe = ShortHorizon(worlds=1, steps=2, hidden=(1, 0), minibatches=1, noise=1e-9, discount=0.9, blend=1.0)
    run = recipe.learning(line, jax.random.key(0))
    assert isinstance(run, Windows)
    weights = lambda p: (p.network.layers[0].weight, p.network.layers[0].bias)  # noqa: E731
    w, b = 0.4, 0.1
    policy = eqx.tree_at(weights, run.policy, (jnp.array([[w]]), jnp.array([b])))
    silent = jax.tree.map(lambda x: 0 * x if eqx.is_array(x) else x, run.learner.slow)
    run.learner = run.learner._replace(policy=policy, slow=silent)
    run.begin(jax.random.key(1))
    assert run._held is not None
    moved = policy.network, run.learner.log_noise
    grads, _ = eqx.filter_grad(run._loss, has_aux=True)(moved, run.learner, run._held, jax.random.key(2))
    x1 = 0.2 + np.tanh(w * 0.2 + b)
    x2 = x1 + np.tanh(w * x1 + b)
    # Only the second command is this window's own; the loss is minus the window's worth, half of it per period.
    by_b = -(0.9 * 2 * (1 - x2)) * (1 - np.tanh(w * x1 + b) ** 2) / 2
    assert float(grads[0].layers[0].bias[0]) == pytest.approx(by_b, rel=1e-4)
    assert float(grads[0].layers[0].weight[0, 0]) == pytest.approx(by_b * x1, rel=1e-4)


def test_it_learns_what_pays_within_seconds(traced_cartpole: JaxCartpole, push: Task) -> None:
    coarse = JaxCartpole(traced_cartpole.interface, traced_cartpole.parameters, 1)
    run = SMALL.learning(Place(coarse, DOUBT, push), jax.random.key(0))
    rewards = [run.iterate(key)["reward"] / 0.02 for key in jax.random.split(jax.random.key(1), 40)]
    assert abs(rewards[0]) < 0.3
    assert np.mean(rewards[-5:]) > 0.6
    assert run.steps_done == 40 * 64
    assert float(run.policy.think({}, jnp.zeros(len(run.policy.shift)))[1][0]) > 0.6


@pytest.mark.slow
def test_gradients_flow_through_a_cloned_robot(cartpole: MujocoSimulator) -> None:
    clone = CloneSimulator(cartpole, clones_of_robot("cartpole")[:1])
    run = SMALL.learning(Place(clone, DOUBT, SwingUp()), jax.random.key(0))
    steepness = run.iterate(jax.random.key(1))["steepness"]
    assert np.isfinite(steepness)
    assert steepness > 0


def test_a_simulator_without_gradients_is_refused(arm_xml: str, push: Task) -> None:
    model = mujoco.MjModel.from_xml_string(arm_xml)
    simulator = MujocoSimulator(model, propose_interface(model, "arm", 0.02), ())
    with pytest.raises(GaplessError, match="cannot be compiled"):
        SMALL.learning(Place(simulator, DOUBT, push), jax.random.key(0))


def test_policies_with_memory_are_refused(line: Place) -> None:
    policy = new_policy(line.simulator.interface, Near.observe, Shape((8, 1), "gru"), jax.random.key(0))
    with pytest.raises(GaplessError, match="feed-forward"):
        SMALL.learning(line, jax.random.key(0), policy)
