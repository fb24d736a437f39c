"""Tosses of a real cube as logs, and what its data sheet says."""

from functools import cache
from pathlib import Path

import jax.numpy as jnp
import mujoco
import numpy as np

from gapless.core import Channel, Interface, Log, on_one_clock
from gapless.learn.contact.tosses import Tosses
from gapless.simulators.rigid import Body, box
from gapless.simulators.rigid.play import Seen
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


@cache
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


PUBLISHED = {"Drake": (13.5, 8.2, 16.5, 20.0), "Bullet": (14.9, "", 16.5, ""), "MuJoCo": (25.1, "", 21.7, "")}
"""Acosta et al. 2022, second hand: position in % of the width, its deviation, rotation in degrees, its deviation."""


def nominal_path(file: Path, tosses: Tosses) -> Seen:
    """What the nominal MuJoCo model says, from the first measured states."""
    model = mujoco.MjModel.from_xml_path(str(file))
    steps, data = round(PERIOD_S / model.opt.timestep), mujoco.MjData(model)
    start = tosses.start
    found = np.zeros((tosses.samples, 7, len(tosses.length)), np.float32)
    for k in range(found.shape[2]):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = (
            np.concatenate([np.asarray(x)[:, k] for x in pair]) for pair in (start[:2], start[2:])
        )
        for i in range(int(tosses.length[k])):
            found[i, :, k] = data.qpos
            mujoco.mj_step(model, data, steps)
    return Seen(jnp.asarray(found[:, :3]), jnp.asarray(found[:, 3:]))
