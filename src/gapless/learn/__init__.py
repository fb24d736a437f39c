"""Logs → a better simulator: the gap, identification, learned parts, a first explanation, and the next motion."""

from .attribution import Cause, attribute
from .excite import Excitation, Excite, excite
from .gap import Gap, gap
from .identify import Identified, Identify, identify
from .noise import sensor_noise
from .residual import LearnResidual, Learnt, learn_residual, with_residual

__all__ = [
    "Cause",
    "Excitation",
    "Excite",
    "Gap",
    "Identified",
    "Identify",
    "LearnResidual",
    "Learnt",
    "attribute",
    "excite",
    "gap",
    "identify",
    "learn_residual",
    "sensor_noise",
    "with_residual",
]
