"""Logs → a better simulator: the gap, identification, its first explanation, and the next motion."""

from .attribution import Cause, attribute
from .excite import Excitation, Excite, excite
from .fleet import Fleet, fleet
from .gap import Gap, gap
from .identify import Identified, Identify, identify
from .noise import sensor_noise

__all__ = [
    "Cause",
    "Excitation",
    "Excite",
    "Fleet",
    "Gap",
    "Identified",
    "Identify",
    "attribute",
    "excite",
    "fleet",
    "gap",
    "identify",
    "sensor_noise",
]
