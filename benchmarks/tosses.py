"""Tosses of a real cube, as logs with an orientation and a gyro: for the order of quaternions."""

import os
from pathlib import Path

import numpy as np

from gapless.core import Channel, Interface, Log, on_one_clock

FOLDER = Path(os.environ.get("GAPLESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
RATE_HZ, TOGETHER = 148.0, 20
"""Samples per second; tosses that make one case."""
INTERFACE = Interface(
    "cube", 1 / RATE_HZ, (), (Channel("orientation", width=4), Channel("angular_velocity", width=3, unit="rad/s"))
)


def available() -> bool:
    """Whether the recordings are there."""
    return (FOLDER / "cube_toss" / "train.npz").is_file()


def tosses(group: int) -> list[Log]:
    """The tosses of one case."""
    found = []
    with np.load(FOLDER / "cube_toss" / "train.npz") as stored:
        for k in range(group * TOGETHER, (group + 1) * TOGETHER):
            q, rate = (stored[f"toss{k:03d}/{name}"] for name in ("quaternion", "angular_velocity"))
            found.append(
                on_one_clock(INTERFACE, {}, {"orientation": q, "angular_velocity": rate}, np.arange(len(q)) / RATE_HZ)
            )
    return found


def w_last(log: Log) -> Log:
    """The toss as somebody logs it who puts w behind x, y and z."""
    turned = {**log.measurements, "orientation": np.roll(log.measurements["orientation"], -1, axis=1)}
    return on_one_clock(INTERFACE, {}, turned, log.command_time)
