"""A simulator → a policy."""

from .checkpoint import Checkpoint, Seen
from .confirm import Confirmed, confirmed
from .guard import Guard, calibrated
from .learning import Learning, Method, Place
from .look import Look
from .ppo import Ppo
from .recipes import RECIPES, method_of
from .train import Along, Train, Trained, train

__all__ = [
    "RECIPES",
    "Along",
    "Checkpoint",
    "Confirmed",
    "Guard",
    "Learning",
    "Look",
    "Method",
    "Place",
    "Ppo",
    "Seen",
    "Train",
    "Trained",
    "calibrated",
    "confirmed",
    "method_of",
    "train",
]
