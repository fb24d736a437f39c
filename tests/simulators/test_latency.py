"""Latency to a fraction of a step: by hand, against MuJoCo's own, and for measurements."""

from collections.abc import Callable

import jax
import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapless.core import Log, Parameter, Signals
from gapless.simulators import MujocoSimulator
from gapless.simulators.latency import commands_remembered, hold_weights, integrator_lead_s

MACHINE = """
<mujoco>
  <option timestep="0.004" {option}/>
  <worldbody>
    <body>
      <joint name="hinge" axis="0 1 0" damping="0.02"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02" mass="0.4" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge" ctrlrange="-1 1" {motor}/></actuator>
</mujoco>
"""
LATE = (Parameter("command.latency", "s", 0.0, 0.0, 0.06, "latency"),)
MEASURED_LATE = (Parameter("measurement.latency", "s", 0.0, 0.0, 0.06, "latency"),)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.floats(0.0, 0.1), st.integers(1, 8), st.integers(1, 50))
def test_weights_sum_to_one_and_are_shares(latency_s: float, substeps: int, period_ms: int) -> None:
    period_s = period_ms / 1000
    weights = hold_weights(np.array([latency_s]), period_s, substeps, commands_remembered(0.1, period_s))
    assert weights.min() >= 0
    assert np.allclose(weights.sum(axis=-1), 1.0)


def test_weights_of_a_delay_worked_out_by_hand() -> None:
    # Period 20 ms in 4 substeps of 5 ms, 12 ms late: the newest command begins at 12 ms, in the third substep.
    weights = hold_weights(np.array([0.012]), 0.02, 4, 2)
    assert weights[0] == pytest.approx(np.array([[0, 1], [0, 1], [0.6, 0.4], [1, 0]]))


def test_the_oldest_command_stands_for_all_before_it() -> None:
    assert hold_weights(np.array([0.9]), 0.02, 1, 3)[0] == pytest.approx(np.array([[0, 0, 1]]))


@pytest.mark.parametrize(("longest_s", "remembered"), [(0.0, 1), (0.001, 2), (0.02, 2), (0.021, 3), (0.06, 4)])
def test_as_many_commands_are_remembered_as_can_still_act(longest_s: float, remembered: int) -> None:
    assert commands_remembered(longest_s, 0.02) == remembered


@pytest.mark.parametrize("delay_s", [0.004, 0.0123, 0.03, 0.0417])
def test_it_agrees_with_mujocos_own_interpolated_delay(
    delay_s: float, make_simulator: Callable[..., MujocoSimulator], simulate: Callable[..., Log],
    lively_commands: Callable[..., Signals],
) -> None:  # fmt: skip
    plain = make_simulator(MACHINE.format(option="", motor=""), parameters=LATE)
    motor = f'delay="{delay_s}" nsample="20" interp="linear"'
    built_in = make_simulator(MACHINE.format(option="", motor=motor), parameters=())
    commands = lively_commands(plain.interface, 60)
    lead_s = integrator_lead_s(plain.model)
    one = simulate(plain, {"command.latency": np.array([delay_s - lead_s])}, commands)
    other = simulate(built_in, {}, commands)
    assert np.abs(one.measurements["hinge.position"] - other.measurements["hinge.position"]).max() < 1e-12
    assert np.ptp(other.measurements["hinge.position"]) > 0.1


def test_latency_means_the_same_at_every_time_step(
    make_simulator: Callable[..., MujocoSimulator], simulate: Callable[..., Log]
) -> None:
    """A constant push on a weightless hinge: a/2 (t − latency)², whatever the time step."""
    text = MACHINE.format(option='gravity="0 0 0"', motor="").replace('damping="0.02"', "")
    ends = []
    for step_s in ("0.004", "0.002", "0.0005"):
        simulator = make_simulator(text.replace("0.004", step_s), parameters=LATE)
        commands = {"motor": np.full((26, 1), 1.0)}
        log = simulate(simulator, {"command.latency": np.array([0.03])}, commands)
        ends.append(log.measurements["hinge.position"][-1, 0])
    inertia = _inertia(text)
    assert ends == pytest.approx([0.5 / inertia * (0.5 - 0.03) ** 2] * 3, rel=2e-4)


def test_a_runge_kutta_integrator_has_no_lead() -> None:
    model = mujoco.MjModel.from_xml_string(MACHINE.format(option='integrator="RK4"', motor=""))
    assert integrator_lead_s(model) == 0.0


def test_late_measurements_lag_by_a_fraction_of_a_step_on_a_ramp(
    make_simulator: Callable[..., MujocoSimulator], simulate: Callable[..., Log]
) -> None:
    text = MACHINE.format(option='gravity="0 0 0"', motor="").replace('damping="0.02"', "")
    simulator = make_simulator(text, parameters=MEASURED_LATE)
    start = {"hinge.velocity": np.array([[2.0]])}
    log = simulate(simulator, {"measurement.latency": np.array([0.0333])}, {"motor": np.zeros((12, 1))}, start)
    clock = log.command_time
    expected = 2.0 * np.maximum(clock - 0.0333, 0.0)  # before the start, the start is read
    assert log.measurements["hinge.position"][:, 0] == pytest.approx(expected, abs=1e-9)


def test_late_measurements_are_late_in_each_world_by_its_own_time(
    make_simulator: Callable[..., MujocoSimulator],
) -> None:
    text = MACHINE.format(option='gravity="0 0 0"', motor="").replace('damping="0.02"', "")
    simulator = make_simulator(text, parameters=MEASURED_LATE).with_worlds(3)
    late, everywhere = np.array([0.0, 0.01, 0.05]), np.ones(3, bool)
    start = {"hinge.velocity": np.ones((3, 1))}
    state, _, _ = simulator.reset(simulator.init(), everywhere, {"measurement.latency": late}, start, jax.random.key(0))
    for _ in range(4):
        state, seen, _ = simulator.step(state, {"motor": np.zeros((3, 1))}, jax.random.key(0))
    assert seen["hinge.position"][:, 0] == pytest.approx(0.08 - late)


def _inertia(text: str) -> float:
    model = mujoco.MjModel.from_xml_string(text)
    data, full = mujoco.MjData(model), np.zeros((1, 1))
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, full)
    return float(full[0, 0])
