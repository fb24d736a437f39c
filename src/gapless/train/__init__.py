"""A simulator → a policy."""

from .confirm import Confirmed, confirmed
from .guard import Guard, calibrated
from .look import Look
from .ppo import Ppo
from .train import Train, Trained, train

__all__ = ["Confirmed", "Guard", "Look", "Ppo", "Train", "Trained", "calibrated", "confirmed", "train"]
