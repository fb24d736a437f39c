"""Planners: optima worked out by hand, latency that counts, belief that counts, and one contract for both kinds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import numpy as np
import pytest

from gapless.core import GaplessError, Params, Point, Signals, Simulator, Task, Uniform, nominal_belief
from gapless.core.conformance import check_policy
from gapless.simulators import JaxCartpole, MujocoSimulator, Rollout, TraceableSimulator
from gapless.tasks import SwingUp
from gapless.train.planning import Cem, Mppi, Pace, Planning, episode, pace, planner

MakeSlider = Callable[..., TraceableSimulator]
METHODS = {"mppi": Mppi(noise=0.3, temperature=0.05, iterations=6), "cem": Cem(iterations=8, momentum=0.0, colour=0.0)}
SMALL = Planning(Mppi(), horizon=5, knots=3, samples=8)


def decided(policy: Any, seen: Signals, world: Params | None = None) -> float:
    memory = policy.init(jax.random.key(0))
    _, command = eqx.filter_jit(policy.step)(world or {}, memory, seen, 0.5, jax.random.key(1))
    return float(command["motor"][0])


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_one_period_ahead_the_optimum_is_known(slider: MakeSlider, stay: Task, method: Any) -> None:
    # Half a second at speed u costs (u/2 − 1)² + u²/4, least at u = 1.
    recipe = Planning(method, horizon=1, knots=1, samples=400, linger_s=0.0)
    sim = slider()
    found = decided(planner(sim, nominal_belief(sim.parameters), stay, recipe), {"place": np.zeros(1, np.float32)})
    assert found == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_two_periods_ahead_the_first_command_is_bolder(slider: MakeSlider, stay: Task, method: Any) -> None:
    # (u/2 − 1)² + ((u + w)/2 − 1)² + u²/4 + w²/4 is least at u = 1.2 and w = 0.4.
    recipe = Planning(method, horizon=2, knots=2, samples=800, linger_s=0.0)
    sim = slider()
    found = decided(planner(sim, nominal_belief(sim.parameters), stay, recipe), {"place": np.zeros(1, np.float32)})
    assert found == pytest.approx(1.2, abs=0.08)


def test_the_plan_follows_the_belief_and_not_the_world(slider: MakeSlider, stay: Task) -> None:
    # With twice the gain, (u − 1)² + u²/4 is least at u = 0.8; the world's own parameters are not looked at.
    sim, recipe = slider(), Planning(METHODS["cem"], horizon=1, knots=1, samples=400, linger_s=0.0)
    policy = planner(sim, Point(("motor.gain",), np.array([2.0])), stay, recipe)
    assert decided(policy, {"place": np.zeros(1, np.float32)}, {"motor.gain": 1.0}) == pytest.approx(0.8, abs=0.05)


def test_several_draws_are_planned_for_together(slider: MakeSlider, stay: Task) -> None:
    # The mean over gains 1 and 2 of (g u/2 − 1)² + u²/4 is least where (1 + 4)/2 · u/2 − 3/2 + u/2 = 0: u = 6/7.
    sim, recipe = slider(), Planning(METHODS["cem"], horizon=1, knots=1, samples=300, draws=2, linger_s=0.0)
    policy: Any = planner(sim, Uniform(("motor.gain",), np.array([1.0]), np.array([2.0])), stay, recipe)
    assert len(set(np.asarray(policy.params["motor.gain"]))) == 2
    gains = {"motor.gain": np.tile(np.float32([1.0, 2.0]), 300)}
    policy = type(policy)(policy.look, gains)
    assert decided(policy, {"place": np.zeros(1, np.float32)}) == pytest.approx(6 / 7, abs=0.05)


def test_a_plan_that_forgets_the_commands_under_way_does_worse(
    slider: MakeSlider, stay: Task, forgetful: type[TraceableSimulator]
) -> None:
    world, late = slider(0.1, 0.35), {"command.latency": np.full(1, 0.3)}
    belief = Point(("command.latency",), np.array([0.3]))
    returns = {}
    for name, sim in (("knows", world), ("forgets", slider(0.1, 0.35, forgetful))):
        policy = planner(sim, belief, stay, Planning(Mppi(iterations=2), horizon=12, knots=6, samples=48))
        returns[name] = stay.score(episode(world, late, policy, stay, jax.random.key(0)))
    assert returns["forgets"] < 1.2 * returns["knows"] < 0


def test_the_next_period_begins_from_the_last_plan(slider: MakeSlider, stay: Task) -> None:
    sim = slider(0.1)
    policy: Any = planner(sim, nominal_belief(sim.parameters), stay, replace(SMALL, knots=5))
    seen = {"place": np.zeros(1, np.float32)}
    step = eqx.filter_jit(policy.step)
    memory, _ = step({}, policy.init(jax.random.key(0)), seen, 0.1, jax.random.key(1))
    later = policy.look.later(memory["plan"])
    assert np.allclose(later.mean[:-1], memory["plan"].mean[1:], atol=1e-6)
    assert np.abs(np.asarray(later.mean)).max() > 0.05


def test_a_planner_that_compiles_runs_wherever_policies_run(slider: MakeSlider, stay: Task) -> None:
    sim, recipe = slider(0.1), Planning(Mppi(iterations=2), horizon=8, knots=4, samples=24)
    policy = planner(sim, nominal_belief(sim.parameters), stay, recipe)
    episodes = Rollout(sim.with_worlds(2), stay).run(policy, {}, jax.random.key(0))
    # It goes from 0 towards 1 as far as the price of moving lets it, and then rests there.
    assert episodes.measurements["place"][-1, :, 0] == pytest.approx(np.ones(2), abs=0.15)
    assert np.abs(episodes.commands["motor"][-5:]).mean() < 0.3


@pytest.mark.slow
def test_both_kinds_keep_the_contract_of_policies(traced_cartpole: JaxCartpole, cartpole: MujocoSimulator) -> None:
    for simulator in (traced_cartpole, cartpole):
        policy = planner(simulator, nominal_belief(simulator.parameters), SwingUp(), SMALL)
        assert check_policy(policy, simulator.interface) == []


def test_planning_in_mujoco_and_in_its_compiled_likeness_is_the_same(
    traced_cartpole: JaxCartpole, cartpole: MujocoSimulator
) -> None:
    belief = Point(("command.latency",), np.array([0.025]))
    sent = []
    for simulator in (traced_cartpole, cartpole):
        policy: Any = planner(simulator, belief, SwingUp(), replace(SMALL, horizon=10))
        step = eqx.filter_jit(policy.step) if simulator.traceable else policy.step
        memory, mine = policy.init(jax.random.key(0)), []
        for k in range(4):
            seen = {"cart.position": np.float32([0.01 * k]), "pole.angle": np.float32([0.3 + 0.02 * k])}
            memory, command = step({}, memory, seen, 0.02, jax.random.key(k))
            mine.append(float(command["motor"][0]))
        sent.append(mine)
    assert sent[0] == pytest.approx(sent[1], abs=0.05)


def test_a_planner_over_mujoco_holds_a_pendulum_aside(pendulum: MujocoSimulator) -> None:
    class Aside(SwingUp):
        seconds = 1.0
        commands = pendulum.interface.commands
        measurements = pendulum.interface.measurements

        def start(self, key: Any, n: int) -> Signals:
            return {"hinge.position": np.zeros((n, 1))}

        def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
            return -((after["hinge.position"][..., 0] - 0.6) ** 2)

        def finished(self, measurement: Signals) -> Any:
            return measurement["hinge.position"][..., 0] > 50.0

    recipe = Planning(Cem(iterations=2), horizon=15, knots=5, samples=16)
    policy = planner(pendulum, nominal_belief(pendulum.parameters), Aside(), recipe)
    log = episode(pendulum, {}, policy, Aside(), jax.random.key(0))
    assert len(log) == 51
    assert log.measurements["hinge.position"][-15:, 0] == pytest.approx(np.full(15, 0.6), abs=0.08)


@pytest.mark.slow
def test_an_untrained_planner_swings_the_cartpole_up_in_spite_of_latency(traced_cartpole: JaxCartpole) -> None:
    task, late = SwingUp(), {"command.latency": np.full(1, 0.025)}
    policy = planner(traced_cartpole, Point(("command.latency",), np.array([0.025])), task)
    log = episode(traced_cartpole, late, policy, task, jax.random.key(0))
    assert task.judge(log).passed


def test_a_robot_without_limits_or_joint_sensors_is_refused(slider: MakeSlider, stay: Task) -> None:
    sim = slider()
    endless = replace(sim.interface, commands=(replace(sim.interface.commands[0], high=np.inf),))
    with pytest.raises(GaplessError, match="has no limits"):
        planner(type(sim)(endless, sim.parameters, 1), nominal_belief(sim.parameters), stay, SMALL)


def test_the_pace_says_whether_decisions_fit_the_period(slider: MakeSlider, stay: Task) -> None:
    sim = slider()
    taken = pace(planner(sim, nominal_belief(sim.parameters), stay, SMALL), sim.interface, 3)
    assert 0 < taken.median_s <= taken.worst_s and taken.cpu_s > 0 and taken.period_s == 0.5
    assert str(Pace(0.001, 0.03, 0.02, 0.001)) == "1.0 ms per decision (at worst 30.0 ms) of 20 ms: does not keep up"


def test_a_simulator_that_cannot_be_put_anywhere_says_so(slider: MakeSlider) -> None:
    sim = slider()
    with pytest.raises(GaplessError, match="nothing can be planned in it"):
        Simulator.place(sim, sim.init(), {})
