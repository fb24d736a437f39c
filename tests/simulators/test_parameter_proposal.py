"""For any model, a list of doubts: every name resolves, every nominal value is the model's own."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from gapless.core import GaplessError, Parameter
from gapless.simulators import (
    MujocoSimulator,
    load_model,
    propose_interface,
    propose_parameters,
    read_parameters,
    write_parameters,
)
from gapless.simulators.binding import OUTSIDE, bind

UNNAMED = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body pos="0 0 1">
      <freejoint/>
      <geom type="sphere" size="0.1"/>
      <body pos="0 0 -0.2">
        <joint type="ball" damping="0.1"/>
        <geom type="box" size="0.1 0.1 0.2" pos="0 0 -0.2"/>
        <body pos="0 0 -0.4"><joint name="joint2" type="slide" axis="0 0 1"/><geom type="sphere" size="0.05"/></body>
      </body>
    </body>
    <body name="bolted"><geom type="box" size="0.1 0.1 0.1"/></body>
  </worldbody>
  <actuator>
    <position joint="joint2" kp="50"/>
    <general name="backwards" joint="joint2" gainprm="-2"/>
  </actuator>
</mujoco>
"""

FIELDS = (
    "body_mass",
    "body_inertia",
    "body_ipos",
    "dof_damping",
    "dof_frictionloss",
    "actuator_gainprm",
    "geom_friction",
)

ROBOT = """
<robot name="arm">
  <link name="base"/>
  <link name="forearm">
    <inertial>
      <origin xyz="0 0 -0.1"/><mass value="0.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <joint name="elbow" type="revolute">
    <parent link="base"/><child link="forearm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="3"/>
  </joint>
</robot>
"""


def test_every_proposed_parameter_resolves_and_is_nominal_at_the_models_value(
    make_simulator: Callable[..., MujocoSimulator],
) -> None:
    simulator = make_simulator(UNNAMED)
    physical = [p for p in simulator.parameters if p.name not in OUTSIDE and p.family != "sensing"]
    assert len(physical) > 10
    for p in physical:
        assert bind(simulator.model, p.name).nominal == pytest.approx(p.nominal)
        assert p.low <= p.nominal <= p.high


def test_writing_every_nominal_value_leaves_the_model_as_it_is(make_simulator: Callable[..., MujocoSimulator]) -> None:
    simulator = make_simulator(UNNAMED)
    batch = simulator.init().batch
    assert np.asarray(batch.expand("opt.gravity")[0]) == pytest.approx(simulator.model.opt.gravity)
    for name in FIELDS:
        assert np.asarray(batch.expand(name)[0]) == pytest.approx(getattr(simulator.model, name), rel=1e-12), name


def test_what_cannot_move_is_not_doubted(make_simulator: Callable[..., MujocoSimulator]) -> None:
    names = [p.name for p in make_simulator(UNNAMED).parameters]
    assert not [n for n in names if n.startswith("bolted")]
    assert names.count("command.latency") == 1


def test_params_toml_says_the_same_after_a_round_trip(
    make_simulator: Callable[..., MujocoSimulator], tmp_path: Path
) -> None:
    proposed = make_simulator(UNNAMED).parameters
    edited = (replace(proposed[0], free=False), *proposed[1:], Parameter("a.gain", "N/V", 1e-7, -1e9, 1e9, "actuation"))
    (tmp_path / "params.toml").write_text(write_parameters(edited))
    assert read_parameters(tmp_path / "params.toml") == edited


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('["hip.damping"]\nlow = 0.0', "parameter 'hip.damping' is incomplete .KeyError 'nominal'.; write a table"),
        ("hip = 3", "parameter 'hip' is incomplete"),
        ('["a.b"]\nnominal="much"\nlow=0\nhigh=1\nfamily="friction"', "parameter 'a.b' is incomplete .ValueError"),
        ('["a.b"]\nnominal=2\nlow=0\nhigh=1\nfamily="friction"', "has nominal 2.0 in the range 0.0 to 1.0"),
        ("[[[", "cannot read the parameters in .*params.toml"),
    ],
)
def test_a_mistake_in_params_toml_is_named(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "params.toml").write_text(text)
    with pytest.raises(GaplessError, match=says):
        read_parameters(tmp_path / "params.toml")


def test_a_missing_params_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(GaplessError, match=r"cannot read the parameters in .*params.toml"):
        read_parameters(tmp_path / "params.toml")


def test_a_urdf_loads_and_says_that_it_lacks_actuators(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ROBOT)
    model = load_model(tmp_path / "arm.urdf")
    assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, "elbow") == 0
    assert float(model.body_mass.sum()) == pytest.approx(0.5)
    with pytest.raises(GaplessError, match="the model of 'arm' has no actuator, so nothing can be commanded"):
        propose_interface(model, "arm")


def test_a_model_that_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(GaplessError, match=r"there is no model file .*none.xml"):
        load_model(tmp_path / "none.xml")
    (tmp_path / "broken.xml").write_text("<mujoco><worldbody></mujoco>")
    with pytest.raises(GaplessError, match=r"MuJoCo cannot read the model .*broken.xml"):
        load_model(tmp_path / "broken.xml")


def test_an_interface_follows_actuators_sensors_and_units(make_simulator: Callable[..., MujocoSimulator]) -> None:
    model = make_simulator(UNNAMED).model
    interface = propose_interface(model, "thing", 0.011)
    assert interface.period_s == pytest.approx(6 * 0.002)
    assert interface.command_names == ("actuator0", "backwards")
    assert [(c.name, c.unit) for c in interface.measurements] == [("joint2.position", "m")]
    assert [p.name for p in propose_parameters(model, interface)][-1] == "joint2.position.latency"
