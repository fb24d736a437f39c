"""Logs → a better simulator: the gap, identification, learned parts, a first explanation, and the next motion."""

from .attribution import Attribution, Cause, Share, attribute
from .excitation import AroundPolicy, Excitation
from .excite import Design, Excite, NoSafeMotion, Wanted, design, excite
from .explain import Attribute
from .fleet import Fleet, fleet
from .gap import Gap, gap
from .identify import Identified, Identify, identify
from .noise import sensor_noise
from .own_episodes import Lesson, lesson_of
from .posterior import lasting_doubt
from .preflight import Finding, apply_fix, preflight
from .residual import LearnResidual, Learnt, learn_residual, with_residual
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
    "LearnResidual",
    "Learnt",
    "Lesson",
    "NoSafeMotion",
    "Performance",
    "ResidualMap",
    "Share",
    "Wanted",
    "apply_fix",
    "attribute",
    "design",
    "excite",
    "fleet",
    "gap",
    "identify",
    "lasting_doubt",
    "learn_residual",
    "lesson_of",
    "preflight",
    "residual_maps",
    "sensor_noise",
    "with_residual",
]
