"""What should happen: built-in tasks by name."""

from gapless.core import Task

from .swingup import SwingUp

TASKS: dict[str, type[Task]] = {"swingup": SwingUp}

__all__ = ["TASKS", "SwingUp"]
