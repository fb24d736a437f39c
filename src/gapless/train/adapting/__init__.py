"""A policy and a few episodes of the robot → a policy for that robot."""

from .adaptation import Adapter, Means, Tries, worth
from .adapters import ADAPTERS, adapter_of

__all__ = ["ADAPTERS", "Adapter", "Means", "Tries", "adapter_of", "worth"]
