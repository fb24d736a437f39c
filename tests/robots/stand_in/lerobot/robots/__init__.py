"""The registry and the base of all robots, with LeRobot's names."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace


@dataclass(kw_only=True)
class RobotConfig:
    id: str | None = None
    calibration_dir: Path | None = None

    @classmethod
    def register_subclass(cls, name):
        return lambda config: CHOICES.setdefault(name, config)

    @classmethod
    def get_known_choices(cls):
        return CHOICES


CHOICES: dict[str, type] = {}
ROBOTS: dict[type, type] = {}


class Robot:
    def __init__(self, config):
        self.calibration_fpath = (config.calibration_dir or Path("nowhere")) / f"{config.id}.json"
        self.calibration = {}
        if self.calibration_fpath.is_file():
            ranges = json.loads(self.calibration_fpath.read_text())
            self.calibration = {name: SimpleNamespace(**motor) for name, motor in ranges.items()}


def make_robot_from_config(config):
    return ROBOTS[type(config)](config)
