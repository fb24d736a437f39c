"""Policies that are not trained: they plan in the simulator, at every control period."""

from .cem import Cem
from .episode import episode
from .following import Follow
from .lookahead import Planning
from .mppi import Mppi
from .pace import Pace, pace
from .planner import SteppedPlanner, TracedPlanner, planner

__all__ = ["Cem", "Follow", "Mppi", "Pace", "Planning", "SteppedPlanner", "TracedPlanner", "episode", "pace", "planner"]
