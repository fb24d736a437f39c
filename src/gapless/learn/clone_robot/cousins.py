"""Robots that nobody built: random chains of links on a cart or a turntable, from which a trunk learns what robots share."""

from typing import NamedTuple

import mujoco
import numpy as np

from gapless.core import Parameter
from gapless.simulators import MujocoSimulator, propose_interface

from .lessons import Reach

STEP_S = 0.004
TURNS_RAD_S = 18.0


class Cousin(NamedTuple):
    """A made-up robot, and where it may be."""

    physics: MujocoSimulator
    reach: dict[str, Reach]


def cousin(rng: np.random.Generator, links: int = 2) -> Cousin:
    """A base that slides or turns under a motor, and `links` links that swing from it."""
    slides, lever = bool(rng.random() < 0.5), rng.uniform(0.1, 0.25)
    size = [Link(rng.uniform(0.15, 0.5), rng.uniform(0.06, 0.25)) for _ in range(links)]
    base = rng.uniform(0.3, 0.8) if slides else rng.uniform(0.003, 0.01)
    gain, damping = (
        (rng.uniform(1.0, 2.0), rng.uniform(2, 8)) if slides else (rng.uniform(0.03, 0.08), rng.uniform(0.005, 0.03))
    )
    model = mujoco.MjModel.from_xml_string(_text(slides, lever, size, base, gain, damping))
    friction = 0.12 * gain * 10
    parameters = (
        Parameter("base.damping", "", damping, 0.0, 3 * damping, "friction"),
        Parameter("base.friction", "", 0.0, 0.0, friction, "friction"),
        Parameter("motor.gain", "", gain, 0.4 * gain, 1.6 * gain, "actuation"),
        *(Parameter(f"link{k}.mass", "kg", s.kg, s.kg / 2, 2 * s.kg, "inertia") for k, s in enumerate(size)),
        Parameter("command.latency", "s", 0.0, 0.0, 0.06, "latency"),
    )
    half, speed = (0.5, 3.0) if slides else (2.2, 18.0)
    reach = {"base": Reach(-half, half, speed)} | {f"swing{k}": Reach(-np.pi, np.pi, TURNS_RAD_S) for k in range(links)}
    return Cousin(MujocoSimulator(model, propose_interface(model, "cousin"), parameters), reach)


class Link(NamedTuple):
    """A rod."""

    m: float
    kg: float


def _text(slides: bool, lever: float, links: list[Link], base: float, gain: float, damping: float) -> str:
    axis, swing = ("1 0 0", "0 -1 0") if slides else ("0 0 1", "1 0 0")
    inertial = (
        f'mass="{base}" diaginertia="0.001 0.001 0.001"' if slides else f'mass="0.3" diaginertia="{base} {base} {base}"'
    )
    at, inner = ("0 0 0", "") if slides else (f"{lever} 0 0", "")
    for k in reversed(range(len(links))):
        m, kg = links[k]
        about = kg * m * m / 12
        place = at if k == 0 else f"0 0 {-links[k - 1].m}"
        inner = (
            f'<body name="link{k}" pos="{place}"><joint name="swing{k}" type="hinge" axis="{swing}" damping="{0.004 * kg}"/>'
            f'<inertial pos="0 0 {-m / 2}" mass="{kg}" diaginertia="{about} {about} {about / 100}"/>{inner}</body>'
        )
    kind = "slide" if slides else "hinge"
    return (
        f'<mujoco><compiler angle="radian"/><option timestep="{STEP_S}"><flag eulerdamp="disable"/></option><worldbody>'
        f'<body name="base"><joint name="base" type="{kind}" axis="{axis}" damping="{damping}" armature="{STEP_S / 2 * damping}" '
        f'solreffriction="0.008 1" solimpfriction="0.99 0.99"/><inertial pos="0 0 0" {inertial}/>{inner}</body></worldbody>'
        f'<actuator><general name="motor" joint="base" gainprm="{gain}" ctrlrange="-10 10" ctrllimited="true"/></actuator>'
        "</mujoco>"
    )
