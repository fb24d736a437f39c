"""Teach networks to step robots as MuJoCo does: lessons, the fit, a trunk for several robots, and one more robot."""

from .course import Joined, RobotCourse, join
from .fit import FitClone, fit_clones
from .lessons import Lessons, Reach, Teach, lessons, one_by_one
from .scout import scouted
from .tune import Tune, tune

__all__ = [
    "FitClone",
    "Joined",
    "Lessons",
    "Reach",
    "RobotCourse",
    "Teach",
    "Tune",
    "fit_clones",
    "join",
    "lessons",
    "one_by_one",
    "scouted",
    "tune",
]
