"""From a teacher to a world that a network steps."""

from .course import Course, Taught, teach
from .fit import fit_clone, fit_law, lesson_loss, rolled_loss
from .lessons import Lessons, Teach, lessons

__all__ = [
    "Course",
    "Lessons",
    "Taught",
    "Teach",
    "fit_clone",
    "fit_law",
    "lesson_loss",
    "lessons",
    "rolled_loss",
    "teach",
]
