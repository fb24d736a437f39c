"""Logs → a better simulator: the gap, identification, its first explanation, and the next motion."""

from .attribution import Cause, attribute
from .excitation import AroundPolicy, Excitation
from .excite import Design, Excite, design, excite
from .gap import Gap, gap
from .identify import Identified, Identify, identify
from .noise import sensor_noise

__all__ = [
    "AroundPolicy",
    "Cause",
    "Design",
    "Excitation",
    "Excite",
    "Gap",
    "Identified",
    "Identify",
    "attribute",
    "design",
    "excite",
    "gap",
    "identify",
    "sensor_noise",
]
