"""Robots of LeRobot's that are let go of when a test ends."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gapless.robots import find_robot
from gapless.robots.lerobot import LeRobot


@pytest.fixture
def find_lerobot(tmp_path: Path) -> Iterator[Callable[..., LeRobot]]:
    """Kind and options → the robot called "mine", calibrated by mine.json in the test's folder."""
    made: list[LeRobot] = []

    def find(kind: str, **options: object) -> LeRobot:
        given = {"id": "mine", "calibration_dir": tmp_path, **options}
        robot = find_robot(f"lerobot:{kind}?" + "&".join(f"{name}={value}" for name, value in given.items()))
        assert isinstance(robot, LeRobot)
        made.append(robot)
        return robot

    yield find
    for robot in made:
        robot.disconnect()
