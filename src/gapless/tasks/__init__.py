"""What should happen: built-in tasks by name."""

from gapless.core import Task

from .carry import Carry
from .push import Push
from .slide import Slide
from .swingup import RotarySwingUp, SwingUp

TASKS: dict[str, type[Task]] = {t.name: t for t in (SwingUp, RotarySwingUp, Slide, Push, Carry)}

__all__ = ["TASKS", "Carry", "Push", "RotarySwingUp", "Slide", "SwingUp"]
