"""The classic table of randomization ranges around the data sheet, as a belief over whatever a simulator has.

Domain randomization by hand, as in Tobin et al. 2017 and Peng et al. 2018. What identification returns is a belief of the same
kind, and a better one; this is what there is before any log.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from gapless.core import GaplessError, Parameter, Uniform

Range = tuple[float, float]
LATENCIES = ("command.latency", "measurement.latency")


@dataclass(frozen=True)
class Table:
    """Ranges by quantity: factors on the nominal value, unless the field's unit says otherwise."""

    mass: Range = (0.8, 1.2)
    """Of a link."""
    inertia: Range = (0.8, 1.2)
    """Of a link, beyond what its mass makes of it."""
    com: Range = (0.9, 1.1)
    """Distance of a link's centre of mass from its joint."""
    damping: Range = (0.5, 2.0)
    """Of a joint."""
    friction: Range = (0.5, 2.0)
    """Dry friction of a joint."""
    armature: Range = (0.8, 1.2)
    """Inertia of a rotor, as the joint feels it."""
    stiffness: Range = (0.8, 1.2)
    """Of a spring."""
    gain: Range = (0.8, 1.2)
    """Of an actuator."""
    sliding: Range = (0.5, 1.5)
    """Friction between things that touch."""
    tilt_rad: Range = (-0.01, 0.01)
    """By which the ground is not level."""
    latency_s: Range = (0.0, 0.02)
    """Added to the nominal latency."""
    period: Range = (0.9, 1.1)
    """Of the time between two commands, in a simulator that has `command.period`."""
    noise: Range = (0.0, 0.005)
    """Deviation of a measurement, in the channel's own unit."""
    push: Range = (0.0, 1.0)
    """Share of the hardest push, in a simulator that pushes (`pushes.py`)."""
    from_nothing: float = 0.1
    """Where the nominal value is zero, so that factors mean nothing: up to this share of what is plausible."""
    held: bool = False
    """Whether parameters that params.toml holds fixed are randomized, too; noise and pushes always are."""

    def __post_init__(self) -> None:
        ranges = {f.name: getattr(self, f.name) for f in fields(self) if isinstance(getattr(self, f.name), tuple)}
        wrong = [name for name, (low, high) in ranges.items() if not low <= high]
        if wrong or not 0 < self.from_nothing <= 1:
            what = wrong[0] if wrong else "from_nothing"
            raise GaplessError(f"the range of {what} is not one: low ≤ high and 0 < from_nothing ≤ 1.")

    def of(self, parameter: Parameter) -> Range | None:
        """The range of one parameter, cut off at what is plausible; None where the table has no row for it."""
        quantity = parameter.name.rpartition(".")[2]
        if not (parameter.free or self.held or quantity in ("noise", "push")):
            return None
        found = self._around(parameter, quantity)
        if found is None:
            return None
        low, high = (float(np.clip(v, parameter.low, parameter.high)) for v in found)
        return (low, high) if low < high else None

    def _around(self, parameter: Parameter, quantity: str) -> Range | None:
        nominal = parameter.nominal
        if parameter.name in LATENCIES:
            return nominal + self.latency_s[0], nominal + self.latency_s[1]
        if parameter.name.startswith("gravity.tilt_"):
            return nominal + self.tilt_rad[0], nominal + self.tilt_rad[1]
        if quantity == "noise":
            return self.noise
        if quantity == "push":
            return self.push[0] * parameter.high, self.push[1] * parameter.high
        factors = getattr(self, quantity, None) if quantity in FACTORS else None
        if factors is None:
            return None
        if nominal == 0:
            return 0.0, self.from_nothing * parameter.high
        low, high = sorted((factors[0] * nominal, factors[1] * nominal))
        return low, high


FACTORS = ("mass", "inertia", "com", "damping", "friction", "armature", "stiffness", "gain", "sliding", "period")
"""Quantities whose rows are factors."""


def classic(parameters: Iterable[Parameter], table: Table | None = None) -> Uniform:
    """Every parameter that the table knows, uniform over its range and independent of the others."""
    table = table or Table()
    found = [(p.name, row) for p in parameters if (row := table.of(p)) is not None]
    if not found:
        raise GaplessError("the table has no row for any parameter of this simulator. Free some in params.toml.")
    low, high = (np.array([row[side] for _, row in found], np.float64) for side in (0, 1))
    return Uniform(tuple(name for name, _ in found), low, high)
