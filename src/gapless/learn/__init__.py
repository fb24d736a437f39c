"""Logs → a better simulator: the gap, identification, its first explanation, and the next motion."""

from .attribution import Attribution, Cause, Share, attribute
from .excite import Excitation, Excite, excite
from .explain import Attribute
from .fleet import Fleet, fleet
from .gap import Gap, gap
from .identify import Identified, Identify, identify
from .noise import sensor_noise
from .returns import Performance

__all__ = [
    "Attribute",
    "Attribution",
    "Cause",
    "Excitation",
    "Excite",
    "Fleet",
    "Gap",
    "Identified",
    "Identify",
    "Performance",
    "Share",
    "attribute",
    "excite",
    "fleet",
    "gap",
    "identify",
    "sensor_noise",
]
