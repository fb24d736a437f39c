"""MuJoCo behind an interface: sensors, mistakes in names and numbers, and replay."""

from collections.abc import Callable
from dataclasses import replace

import jax
import mujoco
import numpy as np
import pytest

from gapless.core import Channel, GaplessError, Interface, Log, Parameter, Signals, Simulator
from gapless.simulators import MujocoSimulator, replay

NOISY = (Parameter("hinge.position.noise", "rad", 0.0, 0.0, 1.0, "sensing", free=False),)


def test_general_sensors_read_the_state_after_the_step(
    make_simulator: Callable[..., MujocoSimulator], simulate: Callable[..., Log]
) -> None:
    """A slide at constant speed: a frame position must not lag by a substep."""
    simulator = make_simulator(
        """<mujoco><option timestep="0.005" gravity="0 0 0"/>
        <worldbody><body name="car"><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1"/></body></worldbody>
        <actuator><motor name="push" joint="x"/></actuator>
        <sensor><framepos name="place" objtype="body" objname="car"/><jointpos name="along" joint="x"/></sensor>
        </mujoco>"""
    )
    log = simulate(simulator, {}, {"push": np.zeros((5, 1))}, {"x.velocity": np.array([[1.0]])})
    assert log.measurements["place"][:, 0] == pytest.approx(log.command_time)
    assert log.measurements["along"][:, 0] == pytest.approx(log.command_time)


def test_replay_of_a_simulators_own_log_gives_that_log(
    any_simulator: Simulator, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]
) -> None:
    latency = {"command.latency": np.array([0.017])}
    log = simulate(any_simulator, latency, lively_commands(any_simulator.interface, 25))
    again = replay(any_simulator, latency, log, {})
    for name, values in log.measurements.items():
        assert again.measurements[name] == pytest.approx(values, abs=2e-5)
    assert again.source["replayed"] is True


def test_replay_follows_the_logs_own_clocks(pendulum: MujocoSimulator, simulate: Callable[..., Log]) -> None:
    """Free fall of a hanging rod, read at odd times: between the rows of the even ones."""
    start = {"hinge.position": np.array([[1.0]])}
    log = simulate(pendulum, {}, {"motor": np.zeros((30, 1))}, start)
    odd = log.command_time + 0.013
    asked = replace(log, measurement_time={"hinge.position": odd})
    found = replay(pendulum, {}, asked, start).measurements["hinge.position"][:, 0]
    # The start is where the first measurement is; so the odd log is the even one, later.
    assert found == pytest.approx(log.measurements["hinge.position"][:, 0], abs=1e-9)


def test_measurement_noise_has_the_deviation_that_its_parameter_says(pendulum: MujocoSimulator) -> None:
    many = MujocoSimulator(pendulum.model, pendulum.interface, NOISY, 4000)
    params = {"hinge.position.noise": np.full(4000, 0.02)}
    _, seen, true = many.reset(many.init(), np.ones(4000, bool), params, {}, jax.random.key(0))
    assert (seen["hinge.position"] - true["hinge.position"]).std() == pytest.approx(0.02, rel=0.05)


def test_the_price_of_an_unknown_name_is_a_sentence(any_simulator: Simulator) -> None:
    everywhere, key = np.ones(1, bool), jax.random.key(0)
    with pytest.raises(GaplessError, match=r"the simulator has no parameter 'moon.mass'. Add it to params.toml"):
        any_simulator.reset(any_simulator.init(), everywhere, {"moon.mass": np.ones(1)}, {}, key)


def test_a_start_of_an_unknown_joint_is_refused(pendulum: MujocoSimulator) -> None:
    with pytest.raises(GaplessError, match=r"a start names 'wheel.position'; the model's joints are hinge"):
        pendulum.reset(pendulum.init(), np.ones(1, bool), {}, {"wheel.position": np.zeros((1, 1))}, jax.random.key(0))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"period_s": 0.0201}, "the control period 0.0201 s is not a multiple of the model's time step 0.002 s"),
        ({"commands": (Channel("engine"),)}, "the model has no actuator called 'engine'"),
        ({"measurements": (Channel("smell"),)}, "the model has no sensor called 'smell'. Add it to <sensor>"),
    ],
)
def test_an_interface_that_does_not_fit_the_model_is_refused(
    change: dict, says: str, pendulum: MujocoSimulator
) -> None:
    with pytest.raises(GaplessError, match=says):
        MujocoSimulator(pendulum.model, replace(pendulum.interface, **change), ())


def test_a_sensor_of_another_width_is_refused() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="b"><joint name="j"/><geom size="0.1"/></body></worldbody>
        <actuator><motor name="m" joint="j"/></actuator>
        <sensor><framepos name="place" objtype="body" objname="b"/></sensor></mujoco>"""
    )
    interface = Interface("thing", 0.02, (Channel("m"),), (Channel("place", width=2),))
    with pytest.raises(GaplessError, match="sensor 'place' has 3 numbers and its channel 2"):
        MujocoSimulator(model, interface, ())


def test_commands_find_their_actuators_by_name_and_not_by_order(
    make_simulator: Callable[..., MujocoSimulator], simulate: Callable[..., Log]
) -> None:
    text = """<mujoco><option gravity="0 0 0"/><worldbody>
      <body><joint name="a"/><geom size="0.1"/></body><body pos="1 0 0"><joint name="b"/><geom size="0.1"/></body>
      </worldbody><actuator><motor name="first" joint="a"/><motor name="second" joint="b"/></actuator></mujoco>"""
    straight = make_simulator(text, parameters=())
    swapped = replace(straight.interface, commands=straight.interface.commands[::-1])
    commands = {"first": np.full((4, 1), 0.1), "second": np.full((4, 1), -0.3)}
    one = simulate(straight, {}, commands)
    other = simulate(MujocoSimulator(straight.model, swapped, ()), {}, commands)
    assert (one.measurements["a.position"] == other.measurements["a.position"]).all()
    assert (one.measurements["b.position"] == other.measurements["b.position"]).all()
    assert one.measurements["b.position"][-1, 0] < 0 < one.measurements["a.position"][-1, 0]
