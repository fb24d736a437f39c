"""A simulator → a policy."""

from .ppo import Ppo
from .train import Train, Trained, train

__all__ = ["Ppo", "Train", "Trained", "train"]
