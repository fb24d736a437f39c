"""Sensors that are biased, scaled or late, step by step and in open loop; and simulators that integrate better."""

import copy
from collections.abc import Callable

import jax
import mujoco
import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Holds, Interface, Log, Parameter, Signals, Simulator
from gapless.simulators import JaxCartpole, MujocoSimulator, finer, replay, sensing_parameters

Simulate = Callable[..., Log]
Lively = Callable[..., Signals]


def with_sensing(simulator: MujocoSimulator) -> MujocoSimulator:
    parameters = (*simulator.parameters, *sensing_parameters(simulator.interface))
    return MujocoSimulator(simulator.model, simulator.interface, parameters)


def ones(**params: float) -> dict[str, np.ndarray]:
    return {k.replace("_", "."): np.array([v]) for k, v in params.items()}


def test_bias_and_scale_change_one_channel_only(cartpole: MujocoSimulator, simulate: Simulate, lively_commands: Lively):
    sensing, commands = with_sensing(cartpole), lively_commands(cartpole.interface, 40)
    true = simulate(sensing, {}, commands)
    read = simulate(sensing, ones(pole_angle_bias=0.05, pole_angle_scale=1.1), commands)
    assert read.measurements["pole.angle"] == pytest.approx(1.1 * true.measurements["pole.angle"] + 0.05)
    assert np.array_equal(read.measurements["cart.position"], true.measurements["cart.position"])


def test_a_late_sensor_reads_what_was_true_before(
    cartpole: MujocoSimulator, simulate: Simulate, lively_commands: Lively
):
    sensing, commands = with_sensing(cartpole), lively_commands(cartpole.interface, 60)
    true = simulate(sensing, {}, commands)
    read = simulate(sensing, ones(pole_angle_latency=0.04), commands)
    assert read.measurements["pole.angle"][5:] == pytest.approx(true.measurements["pole.angle"][3:-2], abs=1e-9)
    assert np.array_equal(read.measurements["cart.position"], true.measurements["cart.position"])


def test_open_loop_reads_what_stepping_reads(cartpole: MujocoSimulator, simulate: Simulate, lively_commands: Lively):
    sensing, commands = with_sensing(cartpole), lively_commands(cartpole.interface, 60)
    params = ones(pole_angle_latency=0.013, cart_position_bias=0.02, cart_position_scale=0.9, pole_angle_scale=1.2)
    stepped = simulate(sensing, params, commands)
    played = replay(sensing, params, stepped, {})
    for name in stepped.measurements:
        assert played.measurements[name][5:] == pytest.approx(stepped.measurements[name][5:], abs=2e-6)


def test_sensors_on_time_cost_nothing(cartpole: MujocoSimulator):
    sensing = with_sensing(cartpole)
    state, _, _ = sensing.reset(sensing.init(), np.ones(1, bool), {}, {}, jax.random.key(0))
    assert not state.late
    state, _, _ = sensing.reset(state, np.ones(1, bool), ones(pole_angle_latency=0.01), {}, jax.random.key(0))
    assert state.late


def test_compiled_sensors_are_biased_and_scaled_alike(
    cartpole: MujocoSimulator, simulate: Simulate, lively_commands: Lively
):
    extra = tuple(p for p in sensing_parameters(cartpole.interface) if not p.name.endswith(".latency"))
    compiled = JaxCartpole(cartpole.interface, (*cartpole.parameters, *extra), 5)
    params, commands = ones(pole_angle_bias=0.05, pole_angle_scale=1.1), lively_commands(cartpole.interface, 30)
    stepped = [simulate(s, params, commands) for s in (with_sensing(cartpole), compiled)]
    assert stepped[1].measurements["pole.angle"] == pytest.approx(stepped[0].measurements["pole.angle"], abs=1e-4)
    played = replay(compiled, params, stepped[1], {})
    assert played.measurements["pole.angle"] == pytest.approx(stepped[1].measurements["pole.angle"], abs=1e-4)


def test_compiled_simulators_refuse_a_late_sensor(cartpole: MujocoSimulator):
    late = Parameter("pole.angle.latency", "s", 0.0, 0.0, 0.04, "sensing")
    with pytest.raises(GaplessError, match="no measurement latency"):
        JaxCartpole(cartpole.interface, (*cartpole.parameters, late), 5)


def test_a_finer_simulator_comes_closer_to_the_truth(pendulum: MujocoSimulator):
    def of(timestep: float) -> MujocoSimulator:
        model = copy.copy(pendulum.model)
        model.opt.timestep = timestep
        return MujocoSimulator(model, pendulum.interface, pendulum.parameters)

    def swing(simulator: Simulator | None) -> np.ndarray:
        assert simulator is not None
        holds = Holds([np.zeros(1)], [np.ones((1, 1))], np.zeros(1, int), np.zeros(1))
        start = {"hinge.position": np.array([[1.0]]), "hinge.velocity": np.zeros((1, 1))}
        return simulator.play({}, start, holds, np.linspace(0, 1, 21)[None])["hinge.position"]

    truth, own, better = swing(of(1e-4)), swing(of(0.02)), swing(finer(of(0.02)))
    assert np.abs(better - truth).max() < 0.1 * np.abs(own - truth).max()


def test_a_finer_simulator_keeps_its_dry_friction_as_stiff_as_may_be(cartpole: MujocoSimulator):
    own, better = cartpole.model, finer(cartpole)
    assert isinstance(better, MujocoSimulator)
    share = better.model.opt.timestep / own.opt.timestep
    assert better.model.dof_solref[0, 0] == pytest.approx(share * own.dof_solref[0, 0])
    held = own.opt.timestep / 2 * own.dof_damping[0]
    assert better.model.dof_armature[0] == pytest.approx(own.dof_armature[0] - (1 - share) * held)
    assert better.model.opt.integrator == own.opt.integrator


def test_a_finer_simulator_with_dry_friction_damps_to_second_order():
    """A sled that only damping brakes: v = exp(−c t / m). MuJoCo's implicit damping weighs it 8 % too much."""
    model = mujoco.MjModel.from_xml_string("""
        <mujoco><option timestep="0.02" gravity="0 0 0"/><worldbody><body>
          <joint name="sled" type="slide" axis="1 0 0" damping="2"/><geom size="0.1" mass="0.5"/>
        </body></worldbody><sensor><jointvel name="speed" joint="sled"/></sensor></mujoco>""")
    interface = Interface("sled", 0.02, (), (Channel("speed", unit="m/s"),), ("sled",))
    dry = (Parameter("sled.friction", "N", 0.0, 0.0, 1.0, "friction"),)
    own = MujocoSimulator(model, interface, dry)
    holds, times = Holds([np.zeros(1)], [np.zeros((1, 0))], np.zeros(1, int), np.zeros(1)), np.array([[0.1, 0.2, 0.4]])
    start = {"sled.position": np.zeros((1, 1)), "sled.velocity": np.ones((1, 1))}
    plays = [s.play({}, start, holds, times)["speed"][0, :, 0] for s in (own, finer(own)) if s is not None]
    far, near = (np.abs(speed - np.exp(-4 * times[0])).max() for speed in plays)
    assert near < 0.01 * far


def test_a_compiled_simulator_is_refined_by_more_substeps(traced_cartpole: JaxCartpole):
    better = finer(traced_cartpole)
    assert isinstance(better, JaxCartpole)
    assert better.substeps == 4 * traced_cartpole.substeps
