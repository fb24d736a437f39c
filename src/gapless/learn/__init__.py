"""Logs → a better simulator: the gap, identification, its first explanation, and the next motion."""

from .attribution import Cause, attribute
from .excite import Excitation, Excite, excite
from .gap import Gap, gap
from .identify import Identified, Identify, identify
from .noise import sensor_noise
from .preflight import Finding, apply_fix, preflight

__all__ = [
    "Cause",
    "Excitation",
    "Excite",
    "Finding",
    "Gap",
    "Identified",
    "Identify",
    "apply_fix",
    "attribute",
    "excite",
    "gap",
    "identify",
    "preflight",
    "sensor_noise",
]
