"""Disturbances in a simulator: each does what it says, when it says, and nothing else."""

from collections.abc import Callable

import jax
import numpy as np
import pytest

from gapless.core import Disturbance, GaplessError, Log, Params, Signals, Simulator
from gapless.simulators import Disturbed, JaxCartpole, MujocoSimulator

Simulate = Callable[..., Log]
ROWS = 60
LATENCY = {"command.latency": np.zeros(1)}


def hinge(simulate: Simulate, simulator: Simulator, volts: float, params: Params | None = None) -> np.ndarray:
    """The angle of a driven pendulum under a constant command."""
    commands = {"motor": np.full((ROWS, 1), volts)}
    return simulate(simulator, {**LATENCY, **(params or {})}, commands).measurements["hinge.position"][:, 0]


def test_a_push_is_worth_a_command_of_the_same_torque(pendulum: MujocoSimulator, simulate: Simulate) -> None:
    pushed = Disturbed(pendulum, [Disturbance("force", "hinge", add=0.5)])
    added = Disturbed(pendulum, [Disturbance("command", "motor", add=0.5)])
    assert np.allclose(hinge(simulate, pushed, 0.2), hinge(simulate, pendulum, 0.7), atol=2e-3)
    assert np.allclose(hinge(simulate, added, 0.2), hinge(simulate, pendulum, 0.7), atol=1e-9)


def test_before_it_begins_and_long_after_it_nothing_is_pushed(pendulum: MujocoSimulator, simulate: Simulate) -> None:
    pushed = Disturbed(pendulum, [Disturbance("force", "hinge", add=0.5, from_s=0.4, to_s=0.5)])
    found, plain = hinge(simulate, pushed, 0.2), hinge(simulate, pendulum, 0.2)
    assert np.array_equal(found[:21], plain[:21])
    assert abs(found[21] - plain[21]) > 1e-5
    last = Disturbed(pendulum, [Disturbance("force", "hinge", add=0.5, from_s=0.4, to_s=0.6)])
    longer = hinge(simulate, last, 0.2)
    assert np.array_equal(longer[:26], found[:26]) and not np.array_equal(longer[26:], found[26:])


def test_a_motor_that_loses_half_its_strength_from_the_start_is_one_of_half_the_gain(
    pendulum: MujocoSimulator, simulate: Simulate
) -> None:
    weak = Disturbed(pendulum, [Disturbance("param", "motor.gain", times=0.5)])
    assert np.allclose(
        hinge(simulate, weak, 1.0, {"motor.gain": np.full(1, 0.8)}),
        hinge(simulate, pendulum, 1.0, {"motor.gain": np.full(1, 0.4)}),
    )


def test_a_parameter_is_itself_again_when_it_is_over(pendulum: MujocoSimulator, simulate: Simulate) -> None:
    simulator = Disturbed(pendulum, [Disturbance("param", "motor.gain", times=0.5, from_s=0.2, to_s=0.4)])
    state, _, _ = simulator.reset(simulator.init(), np.ones(1, bool), {}, {}, jax.random.key(0))
    gains = []
    for k in range(30):
        state, _, _ = simulator.step(state, {"motor": np.zeros((1, 1))}, np.array([0, k], np.uint32))
        gains.append(float(state.inner.params["motor.gain"][0]))
    assert gains == [1.0] * 10 + [0.5] * 10 + [1.0] * 10


def test_a_biased_sensor_reads_what_is_not_there(pendulum: MujocoSimulator, simulate: Simulate) -> None:
    biased = Disturbed(pendulum, [Disturbance("sensor", "hinge.position", times=2.0, add=0.1, from_s=0.5)])
    found, true = hinge(simulate, biased, 0.2), hinge(simulate, pendulum, 0.2)
    assert np.array_equal(found[:25], true[:25])
    assert np.allclose(found[25:], 2 * true[25:] + 0.1)


@pytest.mark.parametrize("what", [("command", "motor"), ("sensor", "pole.angle"), ("param", "motor.gain")])
def test_a_simulator_that_is_traced_is_disturbed_alike(
    cartpole: MujocoSimulator, traced_cartpole: JaxCartpole, simulate: Simulate, what: tuple, lively_commands: Callable
) -> None:
    wrong = [Disturbance(*what, times=0.7, add=0.1, from_s=0.3, to_s=0.8)]
    commands: Signals = {"motor": 0.3 * lively_commands(cartpole.interface, ROWS)["motor"]}  # far from the rail's ends
    params = {"pole.angle.noise": np.zeros(1), "cart.position.noise": np.zeros(1)}
    one, other = (simulate(Disturbed(s, wrong), params, commands).measurements for s in (cartpole, traced_cartpole))
    plain = simulate(cartpole, params, commands).measurements
    assert all(np.allclose(one[k], other[k], atol=2e-3) for k in one)
    assert not np.allclose(one["pole.angle"], plain["pole.angle"], atol=2e-2)


def test_names_that_nobody_has_are_refused(pendulum: MujocoSimulator, traced_cartpole: JaxCartpole) -> None:
    with pytest.raises(GaplessError, match=r"names the param 'wind'; the simulator has: hinge\.damping"):
        Disturbed(pendulum, [Disturbance("param", "wind")])
    with pytest.raises(GaplessError, match="needs physics"):
        Disturbed(traced_cartpole, [Disturbance("force", "hinge", add=1.0)])
