"""Names that mean the same signal are recognised, and those that do not are not."""

import pytest

from gapless.core.names import is_commanded, plain, thing_and_quantity


@pytest.mark.parametrize(
    "name",
    [
        "hip.position",
        "hip_pos",
        "Hip.Angle",
        "hip.q",
        "/joint_states.position[hip]",
        "action[hip.pos]",
        "state_motor.positions[hip]",
        "/hip/position.data",
        "/command/hip/position.data",
    ],
)
def test_the_position_of_the_hip_is_called_many_things(name):
    assert thing_and_quantity(name) == ("hip", "position")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("motor", ("motor", "")),
        ("position", ("position", "")),
        ("hip.torque", ("hip", "effort")),
        ("observation.state[hip]", ("hip", "")),
        ("left_hip.vel", ("lefthip", "velocity")),
        ("/imu.angular_velocity.x", ("imuangularvelocityx", "")),
        ("data", ("data", "")),
        ("", ("", "")),
    ],
)
def test_a_name_is_a_thing_and_perhaps_a_quantity(name, meant):
    assert thing_and_quantity(name) == meant


def test_commands_are_told_from_measurements():
    sent = ["action[hip.pos]", "control.positions[hip]", "/arm/joint_trajectory.positions[hip]", "/cmd_vel.linear.x"]
    measured = ["observation.state[hip.pos]", "state_motor.positions[hip]", "/joint_states.position[hip]"]
    assert all(is_commanded(name) for name in sent)
    assert not any(is_commanded(name) for name in measured)


def test_capitals_and_separators_do_not_count():
    assert plain("Pole.Angle_rad") == "poleanglerad"
