"""Teach networks to step robots as MuJoCo does: lessons, the fit, a trunk for several robots, and one more robot."""

from .fit import FitClone, fit_clones
from .lessons import Lessons, Reach, Teach, lessons

__all__ = ["FitClone", "Lessons", "Reach", "Teach", "fit_clones", "lessons"]
