"""The crank: stages, forecast, lineage, resume."""

from .crank import Turn, cranks, robot_seconds_spent
from .episodes import Plan
from .recipe import Recipe
from .stages import Stages
from .workspace import Workspace, find_task, new_workspace, open_workspace

__all__ = [
    "Plan",
    "Recipe",
    "Stages",
    "Turn",
    "Workspace",
    "cranks",
    "find_task",
    "new_workspace",
    "open_workspace",
    "robot_seconds_spent",
]
