"""Driven joints and their channels are found in the model, and what surrounds a joint is worked out by hand."""

import mujoco
import numpy as np
import pytest

from gapless.simulators.driven import driven_joints
from gapless.simulators.surroundings import surroundings

MACHINE = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <body>
      <joint name="hip" axis="0 -1 0" damping="0.7" frictionloss="0.2" stiffness="3"/>
      <inertial pos="0 0 -0.2" mass="0.5" diaginertia="0.002 0.002 0.002"/>
    </body>
    <body><joint name="lift" type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
    <body><joint name="twin" type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
    <body><joint name="blind" type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
  </worldbody>
  <actuator>
    <position name="hip.target" joint="hip" kp="6" kv="0.1" gear="2"/>
    <motor name="lift.volts" joint="lift" gear="3"/>
    <motor name="left" joint="twin"/>
    <motor name="right" joint="twin"/>
    <motor name="blind.force" joint="blind"/>
  </actuator>
  <sensor>
    <jointpos name="hip.angle" joint="hip"/>
    <jointvel name="hip.speed" joint="hip"/>
    <actuatorfrc name="felt" actuator="hip.target"/>
    <jointpos name="lift.height" joint="lift"/>
    <jointpos name="twin.place" joint="twin"/>
    <user name="lift.effort" dim="1"/>
  </sensor>
</mujoco>
"""


def test_commands_and_channels_are_found_by_what_the_model_says(make_simulator) -> None:
    (hip, lift), without = driven_joints(make_simulator(MACHINE))
    assert (hip.joint, hip.command, hip.told, hip.position, hip.velocity) == (
        "hip", "hip.target", "position", "hip.angle", "hip.speed",
    )  # fmt: skip
    # A command of 1 turns a joint behind a gear of 2 by half a radian, as stiffly as four times kp.
    assert (hip.scale, hip.torque, hip.felt, hip.unit) == (0.5, "felt", 2.0, "rad")
    assert hip.nominal["pd.stiffness"] == pytest.approx(24.0) and hip.nominal["friction.coulomb"] == 0.2
    assert (lift.told, lift.scale, lift.torque, lift.velocity, lift.unit) == ("effort", 1.0, "lift.effort", None, "m")
    assert lift.nominal["amplifier.gain"] == 3.0
    assert without == {"twin": "is driven by 2 commands at once", "blind": "has no position channel"}


def test_gravity_springs_and_inertia_surround_a_joint() -> None:
    model = mujoco.MjModel.from_xml_string(MACHINE)
    angles = np.array([0.0, 0.5, -1.2])
    positions, still = np.zeros((3, 4)), np.zeros((3, 4))
    positions[:, 0] = angles
    found = surroundings(model, 0, positions, np.ones((3, 4)), still)
    weight = 0.5 * 9.81 * 0.2
    np.testing.assert_allclose(found.inertia, 0.022, rtol=1e-9)
    # The joint's own damping and friction are the actuator's to explain.
    np.testing.assert_allclose(found.load, -weight * np.sin(angles) - 3 * angles, atol=1e-9)
    np.testing.assert_allclose(found.pull, -weight * np.cos(angles) - 3, rtol=1e-3)
