"""What every simulator, robot, policy, belief and task must do, also a user's: one suite per contract."""

from .belief import check_belief
from .blame import raised
from .examination import Finding, examine
from .handled import Handled
from .policy import check_policy
from .robot import check_robot
from .simulator import check_simulator
from .task import check_task

__all__ = [
    "Finding",
    "Handled",
    "check_belief",
    "check_policy",
    "check_robot",
    "check_simulator",
    "check_task",
    "examine",
    "raised",
]
