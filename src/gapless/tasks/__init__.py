"""What should happen: built-in tasks by name."""

from gapless.core import Task

from .slide import Slide
from .swingup import RotarySwingUp, SwingUp

TASKS: dict[str, type[Task]] = {t.name: t for t in (SwingUp, RotarySwingUp, Slide)}

__all__ = ["TASKS", "RotarySwingUp", "Slide", "SwingUp"]
