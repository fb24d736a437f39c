"""A simulator → a policy."""

from .checkpoint import Checkpoint, Seen
from .confirm import Confirmed, confirmed
from .fpo import Fpo, FpoPlusPlus
from .guard import Guard, calibrated
from .learning import Learning, Method, Place
from .look import Look
from .ppo import Ppo
from .sapg import Sapg
from .train import Along, Train, Trained, train

__all__ = [
    "Along",
    "Checkpoint",
    "Confirmed",
    "Fpo",
    "FpoPlusPlus",
    "Guard",
    "Learning",
    "Look",
    "Method",
    "Place",
    "Ppo",
    "Sapg",
    "Seen",
    "Train",
    "Trained",
    "calibrated",
    "confirmed",
    "train",
]
