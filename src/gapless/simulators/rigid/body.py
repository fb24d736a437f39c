"""A rigid body as its corners and its data sheet, and what of it logs may have to tell."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.core import GaplessError, Parameter


@dataclass(frozen=True, eq=False)
class Body:
    """What the data sheet says. All is per kilogram: motion under gravity and contact does not tell a mass."""

    corners: Float[np.ndarray, "3 corner"]
    """In the frame that is tracked, m."""
    gyration_m: float
    """Radius of gyration: the root of inertia over mass."""
    friction: float
    restitution: float

    def __post_init__(self) -> None:
        if self.corners.ndim != 2 or self.corners.shape[0] != 3 or self.corners.shape[1] < 1:
            raise GaplessError(f"a body has corners of the shape (3, n), not {self.corners.shape}.")
        if self.gyration_m <= 0 or self.friction < 0 or not 0 < self.restitution < 1:
            raise GaplessError(
                "a body needs a gyration above 0, a friction of at least 0 and a restitution within 0 and 1."
            )

    @property
    def reach_m(self) -> float:
        """From the middle to the farthest corner."""
        return float(np.linalg.norm(self.corners, axis=0).max())


def box(half_m: float, gyration_m: float, friction: float, restitution: float) -> Body:
    """A cube."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32).T
    return Body(half_m * signs, gyration_m, friction, restitution)


def damping_of(restitution: float) -> float:
    """The damping ratio at which a linear spring throws back this share of the speed."""
    fall = math.log(restitution)
    return -fall / math.hypot(math.pi, fall)


def parameters(body: Body) -> tuple[Parameter, ...]:
    """What identification may move, with the data sheet's values."""
    gyration, friction, damping = body.gyration_m, body.friction, damping_of(body.restitution)
    off = 0.15 * body.reach_m
    return (
        Parameter("body.scale", "", 1.0, 0.94, 1.06, "sensing"),
        Parameter("body.gyration", "m", gyration, 0.6 * gyration, 1.6 * gyration, "inertia"),
        Parameter("body.longer_x", "", 0.0, -0.6, 0.6, "inertia", free=False),
        Parameter("body.longer_y", "", 0.0, -0.6, 0.6, "inertia", free=False),
        *(Parameter(f"body.centre_{axis}", "m", 0.0, -off, off, "inertia") for axis in "xyz"),
        *(Parameter(f"body.middle_{axis}", "m", 0.0, -off / 4, off / 4, "sensing", free=False) for axis in "xyz"),
        Parameter("gravity.down", "m/s²", 9.81, 9.2, 10.4, "sensing"),
        *(Parameter(f"gravity.{axis}", "", 0.0, -0.03, 0.03, "sensing") for axis in "xy"),
        *(Parameter(f"floor.tilt_{axis}", "", 0.0, -0.03, 0.03, "contact") for axis in "xy"),
        Parameter("floor.height", "m", 0.0, -0.003, 0.003, "contact", free=False),
        Parameter("contact.frequency", "Hz", 45.0, 20.0, 90.0, "contact"),
        Parameter("contact.damping", "", damping, 0.1, 1.5, "contact"),
        Parameter("contact.hardening", "s/m", 0.0, 0.0, 2.0, "contact"),
        Parameter("contact.friction", "", friction, 0.3 * friction, 3 * friction, "friction"),
        Parameter("contact.fading", "s/m", 0.0, -0.5, 0.5, "friction"),
        Parameter("contact.stiction", "", 0.0, -0.15, 0.15, "friction", free=False),
        Parameter("start.late", "", 0.0, -1.0, 1.0, "sensing"),
    )
