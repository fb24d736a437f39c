"""A simulator → a policy."""

from .confirm import Confirmed, confirmed
from .guard import Guard, calibrated
from .look import Look
from .planning import Cem, Mppi, Planning, pace, planner
from .ppo import Ppo
from .randomization import Adapt, Adaptive, Curriculum, Table, adaptive, classic
from .train import Train, Trained, train

__all__ = [
    "Adapt",
    "Adaptive",
    "Cem",
    "Confirmed",
    "Curriculum",
    "Guard",
    "Look",
    "Mppi",
    "Planning",
    "Ppo",
    "Table",
    "Train",
    "Trained",
    "adaptive",
    "calibrated",
    "classic",
    "confirmed",
    "pace",
    "planner",
    "train",
]
