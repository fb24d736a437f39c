"""Tosses of a real cube as logs, and what its data sheet says."""

from pathlib import Path

import numpy as np

from gapless.core import Channel, Interface, Log, on_one_clock
from gapless.simulators.rigid import Body, box
from recordings import recordings

RATE_HZ, WIDTH_M = 148.0, 0.1048
PERIOD_S = 1 / RATE_HZ
MASS_KG, INERTIA, FRICTION, RESTITUTION = 0.37, 8.1e-4, 0.18, 0.125
INTERFACE = Interface(
    "cube", PERIOD_S, (),
    (
        Channel("position", width=3, unit="m"), Channel("quaternion", width=4),
        Channel("velocity", width=3, unit="m/s"), Channel("angular_velocity", width=3, unit="rad/s"),
    ),
)  # fmt: skip


def cube() -> Body:
    """The data sheet's cube."""
    return box(WIDTH_M / 2, float(np.sqrt(INERTIA / MASS_KG)), FRICTION, RESTITUTION)


def toss_logs(path: Path) -> list[Log]:
    """Every toss of a file."""
    names = INTERFACE.measurement_names
    return [
        on_one_clock(INTERFACE, {}, {n: c[n] for n in names}, np.arange(len(c["position"])) / RATE_HZ, {"log": log})
        for log, c in recordings(path, names).items()
    ]
