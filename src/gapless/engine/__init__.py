"""The crank: stages, forecast, lineage, resume."""

from .adapting import Begin, adapt
from .crank import cranks
from .delta import way_of
from .episodes import Plan, episode_figures
from .forecasts import require_promising
from .incumbent import standing
from .recipe import Recipe
from .runner_up import contenders
from .stages import Stages
from .training import train_policy
from .turn import Turn, robot_seconds_spent
from .usable import usable
from .workspace import Workspace, find_task, new_workspace, open_workspace

__all__ = [
    "Begin",
    "Plan",
    "Recipe",
    "Stages",
    "Turn",
    "Workspace",
    "adapt",
    "contenders",
    "cranks",
    "episode_figures",
    "find_task",
    "new_workspace",
    "open_workspace",
    "require_promising",
    "robot_seconds_spent",
    "standing",
    "train_policy",
    "usable",
    "way_of",
]
