"""Parameters by name: each reaches its field of the model, in its own world only."""

from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from mujoco.batch import Batch

from gapless.core import GaplessError
from gapless.simulators import MujocoSimulator
from gapless.simulators.binding import bind

LEG = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="base" pos="0 0 1">
      <freejoint name="root"/>
      <geom name="trunk" type="box" size="0.2 0.1 0.1" mass="4"/>
      <body name="thigh">
        <joint name="hip" axis="0 1 0" damping="0.3" frictionloss="0.1" armature="0.01" stiffness="2"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="hip_servo" joint="hip" kp="30" kv="2"/>
    <motor joint="hip" gear="3"/>
  </actuator>
</mujoco>
"""


@pytest.fixture(scope="module")
def leg() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(LEG)


def written(model: mujoco.MjModel, name: str, value: float) -> Batch:
    batch = Batch(model, 2, 1)
    bind(model, name).write(batch, np.array([1]), np.array([value]))
    return batch


@pytest.mark.parametrize(
    ("name", "nominal", "field", "index"),
    [
        ("thigh.mass", 1.0, "body_mass", 2),
        ("thigh.com", 0.15, "body_ipos", (2, 2)),
        ("hip.damping", 0.3, "dof_damping", 6),
        ("hip.friction", 0.1, "dof_frictionloss", 6),
        ("hip.armature", 0.01, "dof_armature", 6),
        ("hip.stiffness", 2.0, "jnt_stiffness", 1),
        ("hip.springref", 0.0, "qpos_spring", 7),
        ("hip.drag", 0.0, "dof_dampingpoly", (6, 0)),
        ("thigh.com_x", 0.0, "body_ipos", (2, 0)),
        ("thigh.com_y", 0.0, "body_ipos", (2, 1)),
        ("hip_servo.bias", 0.0, "actuator_biasprm", (0, 0)),
        ("hip_servo.gain", 30.0, "actuator_gainprm", (0, 0)),
        ("hip_servo.damping", 2.0, "actuator_biasprm", (0, 2)),
        ("actuator1.gain", 1.0, "actuator_gainprm", (1, 0)),
        ("trunk.sliding", 1.0, "geom_friction", (1, 0)),
        ("trunk.softness", 0.02, "geom_solref", (1, 0)),
    ],
)
def test_a_parameter_reaches_its_field_in_its_world_only(
    leg: mujoco.MjModel, name: str, nominal: float, field: str, index: int | tuple
) -> None:
    assert bind(leg, name).nominal == pytest.approx(nominal)
    found = written(leg, name, 1.7 * nominal).expand(field)
    place = index if isinstance(index, tuple) else (index,)
    assert abs(found[(0, *place)]) == pytest.approx(nominal)
    assert abs(found[(1, *place)]) == pytest.approx(1.7 * nominal)


def test_a_mass_scales_its_inertia_and_an_inertia_leaves_the_mass(leg: mujoco.MjModel) -> None:
    heavier = written(leg, "thigh.mass", 3.0)
    assert heavier.expand("body_inertia")[1, 2] == pytest.approx(3 * leg.body_inertia[2])
    rounder = written(leg, "thigh.inertia", 2.0)
    assert rounder.expand("body_inertia")[1, 2] == pytest.approx(2 * leg.body_inertia[2])
    assert np.allclose(rounder.expand("body_mass")[1], leg.body_mass)


def test_a_servo_pulls_back_with_the_gain_it_pushes_with(leg: mujoco.MjModel) -> None:
    assert written(leg, "hip_servo.gain", 50.0).expand("actuator_biasprm")[1, 0, 1] == -50.0
    assert written(leg, "actuator1.gain", 5.0).expand("actuator_biasprm")[1, 1, 1] == 0.0


def test_a_tilt_turns_gravity_and_keeps_its_strength(leg: mujoco.MjModel) -> None:
    gravity = written(leg, "gravity.tilt_x", 0.1).expand("opt.gravity")
    assert gravity[0] == pytest.approx([0, 0, -9.81])
    assert gravity[1] == pytest.approx([9.81 * np.sin(0.1), 0, -9.81 * np.cos(0.1)])


def test_mass_moves_the_centre_of_the_whole_through_mujocos_constants(
    make_simulator: Callable[..., MujocoSimulator],
) -> None:
    simulator = make_simulator(LEG).with_worlds(2)
    state = simulator.init()
    simulator._write_params(state, np.array([1]), {"thigh.mass": np.array([2.0])})
    assert state.batch.expand("body_subtreemass")[:, 0] == pytest.approx([5.0, 6.0])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("hip.colour", "parameter 'hip.colour' names no known quantity; known are alpha, armature, bias, com"),
        ("knee.damping", "the model has no joint or actuator called 'knee'. Correct the name in params.toml"),
        ("trunk.mass", "the model has no body called 'trunk'"),
        ("base.com", "no direction to move it along"),
    ],
)
def test_a_name_that_leads_nowhere_says_so(leg: mujoco.MjModel, name: str, says: str) -> None:
    with pytest.raises(GaplessError, match=says):
        bind(leg, name)


def test_a_motor_without_a_bias_cannot_be_given_one(leg: mujoco.MjModel) -> None:
    with pytest.raises(GaplessError, match="affine"):
        bind(leg, "actuator1.bias")


def test_drag_grows_with_the_square_of_the_rate(leg: mujoco.MjModel) -> None:
    batch = written(leg, "hip.drag", 0.5)
    batch.bind("qvel")[:, 6] = -3.0
    batch.bind("qfrc_passive")
    batch.forward()
    forces = batch.bind("qfrc_passive")[:, 6]
    assert forces[1] - forces[0] == pytest.approx(0.5 * 9)


EXPLICIT = """
<mujoco>
  <option timestep="0.004"><flag eulerdamp="disable"/></option>
  <worldbody>
    <body name="cart">
      <joint name="slider" type="slide" axis="1 0 0" damping="4" armature="0.01" solreffriction="0.008 1"/>
      <geom size="0.1" mass="0.5"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_an_armature_that_holds_half_a_step_of_explicit_damping_follows_it() -> None:
    model = mujoco.MjModel.from_xml_string(EXPLICIT)
    armature = written(model, "slider.damping", 8.0).expand("dof_armature")
    assert armature[0, 0] == pytest.approx(0.01)
    assert armature[1, 0] == pytest.approx(0.01 + 0.002 * 4.0)


def test_an_armature_beside_implicit_damping_is_left_alone(leg: mujoco.MjModel) -> None:
    assert (written(leg, "hip.damping", 3.0).expand("dof_armature")[:, 6] == 0.01).all()
