"""Tosses of a real cube, as logs with an orientation and a gyro: for the order of quaternions."""

import numpy as np

from cube import PERIOD_S, toss_logs
from gapless.core import Channel, Interface, Log, on_one_clock
from recordings import data_folder

TOGETHER = 20
"""Tosses that make one case."""
INTERFACE = Interface(
    "cube", PERIOD_S, (), (Channel("orientation", width=4), Channel("angular_velocity", width=3, unit="rad/s"))
)


def available() -> bool:
    """Whether the recordings are there."""
    folder = data_folder()
    return folder is not None and (folder / "cube_toss" / "train.npz").is_file()


def tosses(group: int) -> list[Log]:
    """The tosses of one case."""
    folder = data_folder()
    assert folder is not None
    chosen = toss_logs(folder / "cube_toss" / "train.npz")[group * TOGETHER : (group + 1) * TOGETHER]
    return [_oriented(log, log.measurements["quaternion"]) for log in chosen]


def w_last(log: Log) -> Log:
    """The toss as somebody logs it who puts w behind x, y and z."""
    return _oriented(log, np.roll(log.measurements["orientation"], -1, axis=1))


def _oriented(log: Log, orientation: np.ndarray) -> Log:
    seen = {"orientation": orientation, "angular_velocity": log.measurements["angular_velocity"]}
    return on_one_clock(INTERFACE, {}, seen, log.command_time)
