"""Logs → a better simulator: the gap, identification, its first explanation, and the next motion."""

from .attribution import Attribution, Cause, Share, attribute
from .excitation import AroundPolicy, Excitation
from .excite import Design, Excite, design, excite
from .explain import Attribute
from .fleet import Fleet, fleet
from .gap import Gap, gap
from .identify import Identified, Identify, identify
from .noise import sensor_noise
from .preflight import Finding, apply_fix, preflight
from .residual_map import ResidualMap, residual_maps
from .returns import Performance

__all__ = [
    "AroundPolicy",
    "Attribute",
    "Attribution",
    "Cause",
    "Design",
    "Excitation",
    "Excite",
    "Finding",
    "Fleet",
    "Gap",
    "Identified",
    "Identify",
    "Performance",
    "ResidualMap",
    "Share",
    "apply_fix",
    "attribute",
    "design",
    "excite",
    "fleet",
    "gap",
    "identify",
    "preflight",
    "residual_maps",
    "sensor_noise",
]
