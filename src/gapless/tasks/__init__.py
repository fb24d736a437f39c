"""What should happen: built-in tasks by name."""

from gapless.core import Task

from .carry import Carry
from .generated import VERBS, generate, is_generated
from .hold_load import HoldLoad
from .hop import Hop, HopBack
from .push import Push
from .slide import Slide
from .swingup import RotarySwingUp, SwingUp

TASKS: dict[str, type[Task]] = {t.name: t for t in (SwingUp, RotarySwingUp, Slide, Push, Carry, HoldLoad, Hop, HopBack)}

__all__ = [
    "TASKS",
    "VERBS",
    "Carry",
    "HoldLoad",
    "Hop",
    "HopBack",
    "Push",
    "RotarySwingUp",
    "Slide",
    "SwingUp",
    "generate",
    "is_generated",
]
