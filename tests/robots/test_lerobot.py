"""Any robot of LeRobot's is driven through one adapter, in SI units and on the wall clock.

A stand-in keeps LeRobot's contract here; `test_lerobots_own_robots.py` repeats the main points with LeRobot itself.
"""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import pytest

from gapless.core import Block, Channel, GaplessError, Interface
from gapless.core.conformance.robot import check_robot
from gapless.robots import Gate, Limits, find_robot, record
from gapless.robots.lerobot import LeRobot

TURN = 4095
SHOULDER = (1024, 3072)
"""Counts between which the shoulder was calibrated, of 4095 in LeRobot's turn."""
GRIPPER = (2000, 3000)


@pytest.fixture
def arm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, find_lerobot: Callable[..., LeRobot]
) -> Callable[..., LeRobot]:
    """Options → the stand-in's arm, calibrated."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "stand_in"))
    monkeypatch.setenv("GAPLESS_LEROBOT_PYTHON", sys.executable)
    ranges = {"shoulder": SHOULDER, "gripper": GRIPPER}
    calibration = {name: {"range_min": low, "range_max": high} for name, (low, high) in ranges.items()}
    (tmp_path / "mine.json").write_text(json.dumps(calibration))
    return lambda **options: find_lerobot("arm", **{"port": "/dev/null", **options})


class Hold(Block):
    """Sends the same command for ever."""

    traceable = False
    value: float = 0.1

    def init(self, key):
        return 0

    def step(self, params, memory, inputs, dt_s, key):
        return memory, {"shoulder": np.full(1, self.value), "gripper": np.zeros(1)}


def test_degrees_become_radians_within_the_calibrated_range(arm):
    interface = arm().interface
    half = (SHOULDER[1] - SHOULDER[0]) / 2 * 2 * math.pi / TURN
    assert interface.command_names == ("shoulder", "gripper")
    assert interface.measurement_names == ("shoulder.position", "gripper.position")
    assert interface.period_s == 0.02
    shoulder = interface.channel("shoulder")
    assert (shoulder.unit, shoulder.rate) == ("rad", math.pi)
    assert shoulder.scale == pytest.approx(math.pi / 180)
    assert (shoulder.low, shoulder.high) == pytest.approx((-half, half))
    span = (GRIPPER[1] - GRIPPER[0]) * 2 * math.pi / TURN
    assert (interface.channel("gripper").low, interface.channel("gripper").high) == pytest.approx((0, span))


def test_per_cent_of_the_range_and_degrees_are_the_same_angle(arm):
    # 40 % of a half range of 1024 counts, once as LeRobot's per cent and once as its degrees
    degrees, per_cent = 0.4 * 1024 * 360 / TURN, 40.0
    angles = []
    for use_degrees, start in ((True, degrees), (False, per_cent)):
        robot = arm(use_degrees=str(use_degrees).lower(), start=start)
        robot.connect()
        angles.append(float(robot.get_observation()["shoulder.position"][0]))
    assert angles[0] == pytest.approx(angles[1])
    assert angles[0] == pytest.approx(0.4 * 1024 * 2 * math.pi / TURN)


def test_the_arm_keeps_the_contract_of_robots(arm):
    assert check_robot(arm()) == []


def test_an_episode_is_recorded_on_the_wall_clock(arm):
    robot = arm(fps=100)
    robot.connect()
    patient = Limits(watchdog_s=10.0, late_periods=1000.0, frozen_samples=0)  # other tests may keep the machine busy
    log = record(Gate(robot, patient), Hold(), 0.3, 0, jax.random.key(0))
    assert log.source["stopped"] is None
    late = log.command_time - 0.01 * np.arange(31)  # after a stall the rows catch up, so that only some are late
    assert late.min() > -0.001
    assert late.min() < 0.005
    taken = log.measurement_time["shoulder.position"]
    assert np.all(taken < log.command_time)
    assert np.median(log.command_time - taken) < 0.005
    assert log.commands["shoulder"][-1, 0] == pytest.approx(0.1)
    assert log.measurements["shoulder.position"][-1, 0] == pytest.approx(0.1)


def test_a_command_never_runs_faster_than_its_rate_from_where_the_arm_is(arm):
    robot = arm(start=-30.0)
    robot.connect()
    sent = robot.send_action({"shoulder": np.array([1.0]), "gripper": np.array([0.0])})
    assert sent["shoulder"][0] == pytest.approx(math.radians(-30) + math.pi * 0.02)
    robot.wait_until(robot.now() + 0.5)  # after a pause it may not leap either
    again = robot.send_action({"shoulder": np.array([1.0]), "gripper": np.array([0.0])})
    assert again["shoulder"][0] - sent["shoulder"][0] == pytest.approx(2 * math.pi * 0.02)


def test_what_the_driver_really_sent_is_returned(arm):
    robot = arm(max_relative_target=1.5)
    robot.connect()
    sent = robot.send_action({"shoulder": np.array([0.05]), "gripper": np.array([0.0])})
    assert sent["shoulder"][0] == pytest.approx(math.radians(1.5))


def test_a_workspaces_interface_names_the_channels(arm, tmp_path):
    machine = Interface(
        "my arm", 0.01, (Channel("gripper"), Channel("shoulder", low=-0.5, high=0.5)), (Channel("shoulder_pos"),)
    )
    (tmp_path / "interface.json").write_text(json.dumps(machine.to_dict()))
    robot = arm(interface=tmp_path / "interface.json")
    robot.connect()
    machine.require_same(robot.interface, "the workspace", "the robot")
    assert robot.interface.channel("shoulder").high == 0.5
    assert robot.interface.channel("shoulder").scale == pytest.approx(math.pi / 180)
    assert list(robot.get_observation()) == ["shoulder_pos", "shoulder_pos.time"]


def test_a_file_renames_channels_and_gives_units_limits_and_a_home(arm, tmp_path):
    (tmp_path / "arm.toml").write_text(
        """
        fps = 100
        home_s = 0.2
        [commands."jaw.opening"]
        key = "gripper.pos"
        unit = "m"
        scale = 0.0008
        high = 0.08
        [measurements."jaw.width"]
        key = "gripper.pos"
        unit = "m"
        scale = 0.0008
        [home]
        "jaw.opening" = 0.04
        """
    )
    robot = arm(interface=tmp_path / "arm.toml")
    robot.connect()
    robot.reset(0)
    assert robot.interface.command_names == ("jaw.opening", "shoulder")
    assert robot.interface.measurement_names == ("jaw.width",)
    assert robot.get_observation()["jaw.width"][0] == pytest.approx(0.04)


def test_cameras_are_left_out_and_noted(arm):
    (note,) = arm().notes
    assert "camera 'wrist' is left out" in note


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"prot": "x"}, r"arm has no option 'prot' \(it has: .*port, use_degrees"),
        ({"cameras": "{}"}, "arm has no option 'cameras'"),
        ({"use_degrees": "perhaps"}, "option 'use_degrees' is 'perhaps', which is no bool"),
        ({"start": "here"}, "option 'start' is 'here', which is no float"),
        ({"fps": "-3"}, "it must be a positive number"),
        (
            {"id": "yours", "use_degrees": "false"},
            r"in per cent of a calibrated range, and .*yours\.json does not hold",
        ),
        ({"interface": "nowhere.toml"}, "cannot be read as an interface"),
        ({"module": "no.such.module"}, "ModuleNotFoundError"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(options, sentence, arm):
    with pytest.raises(GaplessError, match=sentence):
        arm(**options)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("speed = 3", "has the key 'speed'"),
        ("[commands.x]\nunit = 'm'", "a channel is a table with `key`"),
        ("[commands.x]\nkey = 'elbow.pos'", "has no 'elbow.pos' among its commands"),
        ("[commands.x]\nkey = 'gripper.pos'\nlow = 'a'", "is not usable"),
        ("[home]\nwrist = 1.0", "home names 'wrist'"),
        ("fps = 0", "fps and home_s as positive numbers"),
        ("= 3", "cannot be read as an interface"),
    ],
)
def test_a_file_that_makes_no_sense_is_one_sentence(text, sentence, arm, tmp_path):
    (tmp_path / "arm.toml").write_text(text)
    with pytest.raises(GaplessError, match=sentence):
        arm(interface=tmp_path / "arm.toml")


def test_an_unknown_robot_is_told_which_there_are(arm):
    arm()
    with pytest.raises(GaplessError, match=r"LeRobot has no robot 'leg' \(it has: arm\)"):
        find_robot("lerobot:leg")
    with pytest.raises(GaplessError, match="arm needs the option port"):
        find_robot("lerobot:arm")


def test_an_arm_without_calibration_is_not_moved(arm, tmp_path):
    scales = "".join(f'[{kind}.x]\nkey = "gripper.pos"\nscale = 1.0\n' for kind in ("commands", "measurements"))
    (tmp_path / "arm.toml").write_text(scales.replace("measurements.x", "measurements.y"))
    robot = arm(id="yours", interface=tmp_path / "arm.toml")
    with pytest.raises(GaplessError, match="is not calibrated"):
        robot.connect()


def test_a_driver_that_raises_dies_or_hangs_is_named(arm, monkeypatch):
    command = {"shoulder": np.zeros(1), "gripper": np.zeros(1)}
    robot = arm(fault="raises")
    robot.connect()
    with pytest.raises(GaplessError, match="refuses to send: ConnectionError: no status packet from motor 3"):
        robot.send_action(command)
    robot = arm(fault="dies")
    robot.connect()
    with pytest.raises(GaplessError, match="has stopped answering"):
        robot.get_observation()
    monkeypatch.setattr("gapless.robots.lerobot.ANSWERING_S", 0.3)
    monkeypatch.setattr("gapless.robots.lerobot_process.LEAVING_S", 0.2)
    robot = arm(fault="hangs")
    robot.connect()
    with pytest.raises(GaplessError, match=r"has not answered for 0\.3 s"):
        robot.get_observation()


def test_leaving_disconnects_the_arm(arm, tmp_path):
    robot = arm()
    robot.connect()
    robot.disconnect()
    robot.disconnect()
    assert (tmp_path / "mine.left").exists()
    with pytest.raises(GaplessError, match="is not connected"):
        robot.get_observation()


def test_without_lerobot_the_way_to_get_it_is_told(monkeypatch):
    monkeypatch.delenv("GAPLESS_LEROBOT_PYTHON", raising=False)
    with pytest.raises(GaplessError, match=r"GAPLESS_LEROBOT_PYTHON; docs/lerobot\.md says how"):
        find_robot("lerobot:so101_follower?port=x")
    monkeypatch.setenv("GAPLESS_LEROBOT_PYTHON", "/nowhere/python")
    with pytest.raises(GaplessError, match="'/nowhere/python', where no file is"):
        find_robot("lerobot:so101_follower?port=x")
