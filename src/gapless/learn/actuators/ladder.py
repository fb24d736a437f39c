"""The rungs of the actuator ladder that physics names, from an ideal PD or gain to a motor with friction, sag and latency."""

from dataclasses import dataclass
from typing import Literal

from gapless.core import Block, Chain, Parameter
from gapless.simulators.joints import PLANT
from gapless.simulators.parts.amplifier import AMPLIFIER, Amplifier
from gapless.simulators.parts.friction import LAWS, Friction, FrictionLaw
from gapless.simulators.parts.servo import MOTOR, PD, DcMotor, IdealPD
from gapless.simulators.parts.transmission import TRANSMISSION, Backlash, Compliance

LATENCY, INERTIA = PLANT
Command = Literal["position", "effort"]
"""What an actuator is told: where to be, or how strongly to push (in torque, force, voltage or any unit of its own)."""


@dataclass(frozen=True)
class Rung:
    """One way to say what an actuator does: its block, its friction, and what there is to find out about it."""

    name: str
    actuator: Block
    law: FrictionLaw | None
    parameters: tuple[Parameter, ...]
    command: Command = "position"

    @property
    def friction(self) -> Friction | None:
        return None if self.law is None else Friction(self.law)


def ladder(law: str = "m4", command: Command = "position") -> tuple[Rung, ...]:
    """Ideal PD or gain, the motor behind it, and the motor with friction and latency; `law` is one of LAWS."""
    return _pushed(law) if command == "effort" else _placed(law)


def geared(law: str = "m4", command: Command = "position") -> tuple[Rung, ...]:
    """The last of these rungs behind a gear with play, and behind one that gives; play is between a target and a position."""
    firm, (gap, *soft) = ladder(law, command)[2], TRANSMISSION
    gives = Chain((firm.actuator, Compliance()))
    compliance = Rung("compliance", gives, firm.law, (*firm.parameters, *soft), command)
    if command == "effort":
        return (compliance,)
    return Rung("backlash", Chain((Backlash(), firm.actuator)), firm.law, (*firm.parameters, gap), command), compliance


def _pushed(law: str) -> tuple[Rung, ...]:
    """For a command that is a force: a gain, back-EMF, friction."""
    (gain, bias, drag), block = AMPLIFIER, Amplifier()
    # Back-EMF and viscous friction cannot be told apart from outside.
    friction = (gain, bias, INERTIA, LATENCY, *LAWS[law].parameters)
    return (
        Rung("gain", block, None, (gain, INERTIA), "effort"),
        Rung("motor", block, None, (gain, bias, drag, INERTIA), "effort"),
        Rung("friction", block, LAWS[law], friction, "effort"),
    )


def _placed(law: str) -> tuple[Rung, ...]:
    """For a command that is a position: ideal PD, DC motor, friction and a supply that sags."""
    motor = tuple(p for p in MOTOR if p.name != "motor.sag")
    return (
        Rung("pd", IdealPD(), None, (*PD, INERTIA)),
        Rung("motor", DcMotor(), None, (*motor, INERTIA)),
        Rung("friction", DcMotor(), LAWS[law], (*MOTOR, INERTIA, LATENCY, *LAWS[law].parameters)),
    )
