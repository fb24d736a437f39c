"""A simulator → a policy."""

from .checkpoint import Checkpoint, Seen
from .confirm import Confirmed, confirmed
from .distil import Distil
from .fast_sac import FastSac
from .fast_td3 import FastTd3
from .fpo import Fpo, FpoPlusPlus
from .guard import Guard, calibrated
from .learning import Learning, Method, Place
from .look import Look
from .osi import UpOsi
from .planning import Cem, Mppi, Planning, pace, planner
from .ppo import Ppo
from .randomization import Adapt, Adaptive, Curriculum, Table, adaptive, classic
from .recipes import RECIPES, method_of
from .rma import Rma
from .sapg import Sapg
from .short_horizon import ShortHorizon
from .train import Along, Train, Trained, train

__all__ = [
    "RECIPES",
    "Adapt",
    "Adaptive",
    "Along",
    "Cem",
    "Checkpoint",
    "Confirmed",
    "Curriculum",
    "Distil",
    "FastSac",
    "FastTd3",
    "Fpo",
    "FpoPlusPlus",
    "Guard",
    "Learning",
    "Look",
    "Method",
    "Mppi",
    "Place",
    "Planning",
    "Ppo",
    "Rma",
    "Sapg",
    "Seen",
    "ShortHorizon",
    "Table",
    "Train",
    "Trained",
    "UpOsi",
    "adaptive",
    "calibrated",
    "classic",
    "confirmed",
    "method_of",
    "pace",
    "planner",
    "train",
]
