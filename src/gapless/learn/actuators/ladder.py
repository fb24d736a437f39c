"""The rungs of the actuator ladder that physics names, from an ideal PD to a motor with friction, sag and latency."""

from dataclasses import dataclass

from gapless.core import Block, Parameter
from gapless.simulators.joints import PLANT
from gapless.simulators.parts.friction import LAWS, Friction, FrictionLaw
from gapless.simulators.parts.servo import MOTOR, PD, DcMotor, IdealPD

LATENCY, INERTIA = PLANT


@dataclass(frozen=True)
class Rung:
    """One way to say what an actuator does: its block, its friction, and what there is to find out about it."""

    name: str
    actuator: Block
    law: FrictionLaw | None
    parameters: tuple[Parameter, ...]

    @property
    def friction(self) -> Friction | None:
        return None if self.law is None else Friction(self.law)


def ladder(law: str = "m4") -> tuple[Rung, ...]:
    """Ideal PD, DC motor, and the motor with friction, a supply that sags, and latency; `law` is one of LAWS."""
    motor = tuple(p for p in MOTOR if p.name != "motor.sag")
    return (
        Rung("pd", IdealPD(), None, (*PD, INERTIA)),
        Rung("motor", DcMotor(), None, (*motor, INERTIA)),
        Rung("friction", DcMotor(), LAWS[law], (*MOTOR, INERTIA, LATENCY, *LAWS[law].parameters)),
    )
