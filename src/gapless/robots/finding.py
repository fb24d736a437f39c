"""From what a user writes after --robot to a robot: a twin, LeRobot's hardware, or a class of yours."""

from typing import Any
from urllib.parse import parse_qs

from gapless.core import GaplessError, Robot
from gapless.core.loading import FORMS, load_class

from .arm import ArmReality
from .cartpole import CartpoleReality
from .furuta import FurutaReality
from .hopper import HopperReality
from .lerobot import LeRobot
from .puck import PuckReality
from .reality import Reality
from .twin import Twin

REALITIES: dict[str, type[Reality]] = {
    "cartpole": CartpoleReality,
    "furuta": FurutaReality,
    "puck": PuckReality,
    "arm": ArmReality,
    "hopper": HopperReality,
}
TWIN_FORM = "twin:NAME?seed=0&tier=A&effects=a,b"


def find_robot(spec: str) -> Robot:
    """The robot that a spec names, not yet connected."""
    if spec.startswith("twin:"):
        return Twin(spec, reality_of(spec).interface)
    if spec.startswith("lerobot:"):
        return LeRobot(spec)
    made = load_class(spec, "robot")()
    if not isinstance(made, Robot):
        raise GaplessError(f"{spec} is not a robot: its class must derive from gapless.core.Robot.")
    return made


def reality_of(spec: str) -> Reality:
    """The hidden physics behind twin:NAME?seed=…&tier=…&effects=a,b. For the twin's process and the judge only."""
    name, _, query = spec.removeprefix("twin:").partition("?")
    options = {k: v[-1] for k, v in parse_qs(query).items()}
    unknown = sorted(set(options) - {"seed", "tier", "effects"})
    made: Any = load_class(name, "reality") if ":" in name else REALITIES.get(name)
    if made is None or unknown or not options.get("seed", "0").isdigit():
        raise GaplessError(
            f"cannot make a twin of {spec!r}: twins are {', '.join(REALITIES)}; the form is {TWIN_FORM}, or else {FORMS}."
        )
    effects = tuple(e for e in options.get("effects", "").split(",") if e)
    return made(int(options.get("seed", "0")), options.get("tier", "A"), effects)
