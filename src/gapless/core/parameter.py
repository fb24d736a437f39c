"""A physical quantity that the simulator does not know for sure: its meaning, unit, nominal value and plausible range."""

from dataclasses import dataclass

from .errors import GaplessError

FAMILIES = ("latency", "friction", "inertia", "actuation", "contact", "sensing")


@dataclass(frozen=True)
class Parameter:
    """One number per world, addressed by meaning."""

    name: str
    """Thing and quantity, e.g. "slider.friction"."""
    unit: str
    """SI unit; empty for a pure number."""
    nominal: float
    """What the data sheet or the model file says."""
    low: float
    """Smallest plausible value."""
    high: float
    """Largest plausible value."""
    family: str
    """Which cause of a gap it belongs to, one of FAMILIES."""
    free: bool = True
    """Whether identification may move it; a weighed mass may stay where it is."""

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise GaplessError(
                f"parameter {self.name!r} has family {self.family!r}; it must be one of {', '.join(FAMILIES)}."
            )
        if not self.low <= self.nominal <= self.high or not self.low < self.high:
            raise GaplessError(
                f"parameter {self.name!r} has nominal {self.nominal} in the range {self.low} to {self.high}; "
                "the range must not be empty and must contain the nominal value."
            )
