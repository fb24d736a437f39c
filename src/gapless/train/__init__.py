"""A simulator → a policy."""

from .checkpoint import Checkpoint, Seen
from .confirm import Confirmed, confirmed
from .distil import Distil
from .guard import Guard, calibrated
from .learning import Learning, Method, Place
from .look import Look
from .ppo import Ppo
from .rma import Rma
from .train import Along, Train, Trained, train

__all__ = [
    "Along",
    "Checkpoint",
    "Confirmed",
    "Distil",
    "Guard",
    "Learning",
    "Look",
    "Method",
    "Place",
    "Ppo",
    "Rma",
    "Seen",
    "Train",
    "Trained",
    "calibrated",
    "confirmed",
    "train",
]
