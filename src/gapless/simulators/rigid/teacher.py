"""Throws in C MuJoCo, whose contacts are solved in another way than ours: realities to practise on."""

from typing import NamedTuple

import mujoco
import numpy as np
from jaxtyping import Float

from .play import SUBSTEPS

GIVE = 2.5
"""How much softer a corner is than the whole body, about: MuJoCo's spring knows the contact, ours the mass."""


class Reality(NamedTuple):
    """A cube and its floor."""

    half_m: float
    gyration_m: float
    centre_m: Float[np.ndarray, "3"]
    friction: float
    time_constant_s: float
    damping: float
    gravity: float

    @property
    def params(self) -> dict[str, float]:
        """What our own simulator needs to know to come close; the rest is its data sheet."""
        frequency = 1 / (2 * np.pi * self.time_constant_s * self.damping * np.sqrt(GIVE))
        centre = {f"body.centre_{axis}": float(x) for axis, x in zip("xyz", self.centre_m, strict=True)}
        return centre | {
            "body.gyration": self.gyration_m, "contact.friction": self.friction, "contact.frequency": float(frequency),
            "contact.damping": self.damping, "gravity.down": self.gravity, "start.late": 0.0,
        }  # fmt: skip


def draw_reality(half_m: float, rng: np.random.Generator) -> Reality:
    """A reality with randomized parameters."""
    return Reality(
        half_m,
        half_m * rng.uniform(0.8, 1.2),
        half_m * rng.uniform(-0.15, 0.15, 3),
        float(np.exp(rng.uniform(np.log(0.08), np.log(0.35)))),
        float(np.exp(rng.uniform(np.log(0.003), np.log(0.009)))),
        rng.uniform(0.3, 0.9),
        rng.uniform(9.5, 9.9),
    )


def throw(
    reality: Reality, tosses: int, samples: int, period_s: float, rng: np.random.Generator
) -> dict[str, Float[np.ndarray, "toss time width"]]:
    """Throws from random starts, as they would be logged."""
    model = mujoco.MjModel.from_xml_string(_xml(reality, period_s / SUBSTEPS))
    found = {
        name: np.zeros((tosses, samples, w))
        for name, w in (("position", 3), ("quaternion", 4), ("velocity", 3), ("angular_velocity", 3))
    }
    for k in range(tosses):
        data = mujoco.MjData(model)
        turn = rng.normal(size=4)
        direction = rng.uniform(0, 2 * np.pi)
        speed = rng.uniform(0.3, 1.8)
        data.qpos[:] = [0, 0, reality.half_m * rng.uniform(2.0, 3.5), *(turn / np.linalg.norm(turn))]
        data.qvel[:] = [
            speed * np.cos(direction),
            speed * np.sin(direction),
            rng.normal(0, 0.4),
            *rng.normal(0, 3.0, 3),
        ]
        for i in range(samples):
            for name, row in (
                ("position", data.qpos[:3]),
                ("quaternion", data.qpos[3:]),
                ("velocity", data.qvel[:3]),
                ("angular_velocity", data.qvel[3:]),
            ):
                found[name][k, i] = row
            mujoco.mj_step(model, data, SUBSTEPS)
    return found


def _xml(reality: Reality, step_s: float) -> str:
    half, moment = reality.half_m, reality.gyration_m**2
    centre = " ".join(f"{x:.9g}" for x in reality.centre_m)
    return f"""
<mujoco>
  <option timestep="{step_s:.12g}" cone="elliptic" integrator="implicitfast" impratio="10" gravity="0 0 {-reality.gravity:.9g}"/>
  <default>
    <geom friction="{reality.friction:.9g} 0 0" condim="3" solimp="0.95 0.99 0.001"
      solref="{reality.time_constant_s:.9g} {reality.damping:.9g}"/>
  </default>
  <worldbody>
    <geom type="plane" size="2 2 0.1"/>
    <body>
      <freejoint/>
      <inertial pos="{centre}" mass="1" diaginertia="{moment:.9g} {moment:.9g} {moment:.9g}"/>
      <geom type="box" size="{half:.9g} {half:.9g} {half:.9g}"/>
    </body>
  </worldbody>
</mujoco>"""
