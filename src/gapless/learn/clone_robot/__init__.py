"""Teach networks to step robots as MuJoCo does: lessons, the fit, a trunk for several robots, one more robot, and its reality."""

from .course import Joined, RobotCourse, join
from .fit import FitClone, fit_clones
from .lessons import Lessons, Reach, Teach, lessons, one_by_one
from .reality import Candidate, Contest, LearnClone, Pulled, learn_clone
from .scout import scouted
from .tune import Tune, tune

__all__ = [
    "Candidate",
    "Contest",
    "FitClone",
    "Joined",
    "LearnClone",
    "Lessons",
    "Pulled",
    "Reach",
    "RobotCourse",
    "Teach",
    "Tune",
    "fit_clones",
    "join",
    "learn_clone",
    "lessons",
    "one_by_one",
    "scouted",
    "tune",
]
