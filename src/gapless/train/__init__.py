"""A simulator → a policy."""

from .checkpoint import Checkpoint, Seen
from .confirm import Confirmed, confirmed
from .fast_sac import FastSac
from .fast_td3 import FastTd3
from .guard import Guard, calibrated
from .learning import Learning, Method, Place
from .look import Look
from .ppo import Ppo
from .short_horizon import ShortHorizon
from .train import Along, Train, Trained, train

__all__ = [
    "Along",
    "Checkpoint",
    "Confirmed",
    "FastSac",
    "FastTd3",
    "Guard",
    "Learning",
    "Look",
    "Method",
    "Place",
    "Ppo",
    "Seen",
    "ShortHorizon",
    "Train",
    "Trained",
    "calibrated",
    "confirmed",
    "train",
]
