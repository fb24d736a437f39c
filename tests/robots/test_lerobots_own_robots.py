"""LeRobot's own robots through the adapter, in LeRobot's own environment; docs/lerobot.md says how to give it one."""

import json
import math
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.core.conformance.robot import check_robot
from gapless.robots.lerobot import LeRobot

pytestmark = pytest.mark.interop

MOTORS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")


@pytest.fixture
def lerobot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, find_lerobot: Callable[..., LeRobot]
) -> Callable[..., LeRobot]:
    """Kind and options → the robot; every motor is calibrated from 1000 to 3000 counts."""
    if not Path(os.environ.get("GAPLESS_LEROBOT_PYTHON", "")).is_file():
        pytest.skip("LeRobot is not here; docs/lerobot.md says how to give it an environment of its own.")
    monkeypatch.setenv("HF_LEROBOT_HOME", str(tmp_path / "home"))
    motors = (*MOTORS, "motor_1", "motor_2", "motor_3")
    counts = {"drive_mode": 0, "homing_offset": 0, "range_min": 1000, "range_max": 3000}
    (tmp_path / "mine.json").write_text(json.dumps({m: {"id": i % 6 + 1, **counts} for i, m in enumerate(motors)}))
    return find_lerobot


@pytest.fixture
def mock_robot(lerobot: Callable[..., LeRobot], monkeypatch: pytest.MonkeyPatch) -> Callable[..., LeRobot]:
    """LeRobot's own mock robot, which only a checkout of LeRobot's repository has."""
    checkout = Path(os.environ.get("GAPLESS_LEROBOT_CHECKOUT", "nowhere"))
    if not (checkout / "tests/mocks/mock_robot.py").is_file():
        pytest.skip("LeRobot's mock robot is not here; name a checkout of LeRobot in GAPLESS_LEROBOT_CHECKOUT.")
    monkeypatch.setenv("PYTHONPATH", str(checkout))
    return lambda **options: lerobot("mock_robot", module="tests.mocks.mock_robot", **options)


@pytest.mark.parametrize("use_degrees", ["true", "false"])
def test_an_so101_is_described_in_radians_without_being_connected(use_degrees, lerobot):
    interface = lerobot("so101_follower", port="/dev/nowhere", use_degrees=use_degrees, fps=30).interface
    span = 2000 * 2 * math.pi / 4095
    assert interface.command_names == MOTORS
    assert interface.measurement_names == tuple(f"{motor}.position" for motor in MOTORS)
    assert interface.period_s == pytest.approx(1 / 30)
    elbow, gripper = interface.channel("elbow_flex"), interface.channel("gripper")
    assert (elbow.low, elbow.high) == pytest.approx((-span / 2, span / 2))
    assert elbow.scale == pytest.approx(math.pi / 180 if use_degrees == "true" else span / 200)
    assert (gripper.unit, gripper.scale) == ("rad", pytest.approx(span / 100))


def test_an_arm_whose_port_is_not_there_is_one_sentence(lerobot):
    robot = lerobot("so101_follower", port="/dev/nowhere")
    with pytest.raises(GaplessError, match=r"refuses to connect: .*/dev/nowhere"):
        robot.connect()


def test_both_arms_of_a_pair_are_found(lerobot, tmp_path):
    ports = {f"{side}_arm_config.port": "/dev/nowhere" for side in ("left", "right")}
    for side in ("left", "right"):
        (tmp_path / f"mine_{side}.json").write_text((tmp_path / "mine.json").read_text())
    interface = lerobot("bi_so_follower", **ports).interface
    assert interface.command_names == tuple(f"{side}_{motor}" for side in ("left", "right") for motor in MOTORS)
    assert {c.unit for c in interface.commands} == {"rad"}


def test_options_and_names_that_lerobot_does_not_know_are_one_sentence(lerobot):
    with pytest.raises(GaplessError, match=r"so101_follower has no option 'prot' \(it has: port, "):
        lerobot("so101_follower", prot="/dev/nowhere")
    with pytest.raises(GaplessError, match=r"LeRobot has no robot 'so1001' \(it has: .*so101_follower"):
        lerobot("so1001")


def test_lerobots_mock_robot_keeps_the_contract_of_robots(mock_robot):
    assert check_robot(mock_robot()) == []


def test_lerobots_mock_robot_is_read_in_radians(mock_robot):
    robot = mock_robot(random_values="false", static_values="[50.0,0.0,-100.0]")
    robot.connect()
    seen = robot.get_observation()
    half = 1000 * 2 * math.pi / 4095
    angles = [float(seen[f"motor_{i}.position"][0]) for i in (1, 2, 3)]
    assert angles == pytest.approx([half / 2, 0.0, -half])
    assert 0 <= robot.now() - float(seen["motor_1.position.time"][0]) < 0.5
    sent = robot.send_action({f"motor_{i}": np.array([0.0]) for i in (1, 2, 3)})
    assert sent["motor_1"][0] == pytest.approx(half / 2 - math.pi * 0.02)  # no faster than half a turn a second


def test_an_uncalibrated_mock_robot_is_not_moved(mock_robot):
    robot = mock_robot(calibrated="false")
    with pytest.raises(GaplessError, match="is not calibrated"):
        robot.connect()
