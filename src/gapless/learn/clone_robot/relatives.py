"""Robots of every kind that an ancestor is taught by: one to three joints in a chain, driven anywhere, of any size and weight."""

from dataclasses import dataclass

import mujoco
import numpy as np

from gapless.core import Parameter
from gapless.simulators import MujocoSimulator, propose_interface

from .cousins import STEP_S, Cousin
from .lessons import Reach

VOLTS = 10.0
RAIL_M = 0.5


@dataclass(frozen=True)
class Rod:
    """A link, and the joint that it hangs from."""

    m: float
    kg: float
    middle: float
    """Where its weight is, as a share of its length."""
    stout: float
    """Its inertia about that, in those of an even rod."""
    damped: float
    """How fast its joint comes to rest by damping, in 1/s."""

    @property
    def inertia(self) -> float:
        """About its own middle, in kg m²."""
        return self.stout * self.kg * self.m**2 / 12

    @property
    def swung(self) -> float:
        """About its joint, in kg m²."""
        return self.inertia + self.kg * (self.middle * self.m) ** 2


def relative(rng: np.random.Generator) -> Cousin:
    """A chain that hangs from a nail, a cart or a turntable, with a motor at one of its joints or at two."""
    base = str(rng.choice(["nail", "nail", "cart", "turntable"]))
    rods = [_rod(rng) for _ in range(int(rng.integers(1, 4 if base == "nail" else 3)))]
    carried = float(np.exp(rng.uniform(np.log(0.2), np.log(1.0))))
    joints = ([] if base == "nail" else ["base"]) + [f"swing{k}" for k in range(len(rods))]
    driven = sorted(rng.choice(len(joints), int(rng.random() < 0.2 and len(joints) > 1) + 1, replace=False).tolist())
    strong = {joints[j]: _gain(base, rods, carried, joints[j], rng) for j in driven}
    rubbed = joints[driven[0]] if rng.random() < 0.3 else None
    model = mujoco.MjModel.from_xml_string(_text(base, rods, carried, strong, rng))
    parameters = [
        *(Parameter(f"rod{k}.mass", "kg", r.kg, r.kg / 2, 2 * r.kg, "inertia") for k, r in enumerate(rods)),
        *(Parameter(f"{j}_motor.gain", "", g, g / 2, 1.5 * g, "actuation") for j, g in strong.items()),
        Parameter("command.latency", "s", 0.0, 0.0, 0.06, "latency"),
    ]
    damping = float(model.dof_damping[driven[0]])
    parameters.append(Parameter(f"{joints[driven[0]]}.damping", "", damping, 0.0, 3 * damping + 1e-4, "friction"))
    if rubbed:
        parameters.append(Parameter(f"{rubbed}.friction", "", 0.0, 0.0, 0.12 * strong[rubbed] * VOLTS, "friction"))
    turns = rng.uniform(10, 20)
    reach = {j: Reach(-np.pi, np.pi, turns * rng.uniform(0.7, 1.4)) for j in joints}
    if base == "cart":
        reach["base"] = Reach(-RAIL_M, RAIL_M, rng.uniform(2, 4))
    return Cousin(MujocoSimulator(model, propose_interface(model, "relative"), tuple(parameters)), reach)


def _rod(rng: np.random.Generator) -> Rod:
    length, mass = (float(np.exp(rng.uniform(np.log(a), np.log(b)))) for a, b in ((0.12, 0.5), (0.06, 0.5)))
    return Rod(length, mass, rng.uniform(0.35, 0.65), rng.uniform(0.6, 1.5), rng.uniform(0.0, 2.0) ** 2 / 2)


def _gain(base: str, rods: list[Rod], carried: float, joint: str, rng: np.random.Generator) -> float:
    """A motor that holds what hangs from its joint at a third to three times of its volts, and a cart by as much in weight."""
    if joint == "base":
        heavy = sum(r.kg for r in rods)
        load = 9.81 * (carried + heavy) if base == "cart" else 9.81 * heavy * 0.15
    else:
        load = 9.81 * sum(r.kg * r.m for r in rods[int(joint[5:]) :]) / 2
    return float(load * np.exp(rng.uniform(np.log(0.35), np.log(3.0))) / VOLTS)


def _text(base: str, rods: list[Rod], carried: float, strong: dict[str, float], rng: np.random.Generator) -> str:
    swing = "1 0 0" if base == "turntable" else "0 -1 0"
    inner = ""
    for k in reversed(range(len(rods))):
        r, at = (
            rods[k],
            f"0 0 {-rods[k - 1].m}" if k else f"{rng.uniform(0.08, 0.25) if base == 'turntable' else 0} 0 0",
        )
        inner = (
            f'<body name="rod{k}" pos="{at}"><joint name="swing{k}" type="hinge" axis="{swing}" damping="{r.damped * r.swung}" '
            f'solreffriction="0.008 1" solimpfriction="0.99 0.99"/>'
            f'<inertial pos="0 0 {-r.middle * r.m}" mass="{r.kg}" diaginertia="{r.inertia} {r.inertia} {r.inertia / 20}"/>'
            f"{inner}</body>"
        )
    if base != "nail":
        inner = _carried(base, carried, inner, rng)
    motors = "".join(
        f'<general name="{j}_motor" joint="{j}" gainprm="{g}" ctrlrange="-{VOLTS} {VOLTS}" ctrllimited="true"/>'
        for j, g in strong.items()
    )
    return (
        f'<mujoco><compiler angle="radian"/><option timestep="{STEP_S}" gravity="0 0 {-rng.uniform(8, 11)}"/>'
        f"<worldbody>{inner}</worldbody><actuator>{motors}</actuator></mujoco>"
    )


def _carried(base: str, kg: float, inner: str, rng: np.random.Generator) -> str:
    """A cart or a turntable, and what hangs from it."""
    slides = base == "cart"
    about = 0.001 if slides else 0.02 * kg
    kind, axis, damping = (
        ("slide", "1 0 0", rng.uniform(0, 10) * kg) if slides else ("hinge", "0 0 1", rng.uniform(0, 4) * about)
    )
    return (
        f'<body name="base"><joint name="base" type="{kind}" axis="{axis}" damping="{damping}" '
        f'solreffriction="0.008 1" solimpfriction="0.99 0.99"/>'
        f'<inertial pos="0 0 0" mass="{kg}" diaginertia="{about} {about} {about}"/>{inner}</body>'
    )
