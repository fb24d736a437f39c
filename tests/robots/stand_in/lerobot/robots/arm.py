"""An arm of two motors that goes where it is told at once."""

import os
import time
from dataclasses import dataclass, field
from enum import StrEnum
from types import SimpleNamespace

from . import ROBOTS, Robot, RobotConfig


class Mode(StrEnum):
    DEGREES = "degrees"
    RANGE_M100_100 = "range_m100_100"
    RANGE_0_100 = "range_0_100"


@RobotConfig.register_subclass("arm")
@dataclass
class ArmConfig(RobotConfig):
    port: str
    use_degrees: bool = True
    max_relative_target: float | dict[str, float] | None = None
    cameras: dict[str, object] = field(default_factory=lambda: {"wrist": "a camera that must not be opened"})
    start: float = 0.0
    fault: str = ""


class Arm(Robot):
    name = "arm"

    def __init__(self, config):
        super().__init__(config)
        assert not config.cameras
        self.config, self.is_connected = config, False
        body = Mode.DEGREES if config.use_degrees else Mode.RANGE_M100_100
        motors = {"shoulder": SimpleNamespace(model="m", norm_mode=body)}
        motors["gripper"] = SimpleNamespace(model="m", norm_mode=Mode.RANGE_0_100)
        self.bus = SimpleNamespace(motors=motors, model_resolution_table={"m": 4096})
        self.position = {"shoulder.pos": config.start, "gripper.pos": 0.0}

    @property
    def observation_features(self):
        return {"shoulder.pos": float, "gripper.pos": float, "wrist": (480, 640, 3)}

    @property
    def action_features(self):
        return {"shoulder.pos": float, "gripper.pos": float}

    @property
    def is_calibrated(self):
        return bool(self.calibration)

    def connect(self, calibrate=True):
        assert not calibrate
        print("a driver that prints\n" * 20_000)
        self.is_connected = True

    def get_observation(self):
        if not self.is_connected:
            raise RuntimeError("the arm is not connected")
        if self.config.fault == "dies":
            os._exit(3)
        if self.config.fault == "hangs":
            time.sleep(60)
        return {**self.position, "wrist": None}

    def send_action(self, action):
        if self.config.fault == "raises":
            raise ConnectionError("no status packet\nfrom motor 3")
        most = self.config.max_relative_target
        for key, goal in action.items():
            now = self.position[key]
            self.position[key] = goal if most is None else min(max(goal, now - most), now + most)
        return dict(self.position)

    def disconnect(self):
        self.is_connected = False
        if self.config.id:
            self.calibration_fpath.with_suffix(".left").touch()


ROBOTS[ArmConfig] = Arm
