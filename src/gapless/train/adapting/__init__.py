"""A policy and a few episodes of the robot → a policy for that robot."""

from ..meta.evolution import Evolution
from ..meta.gradients import Gradients
from .adaptation import Adapter, Means, Tries, worth
from .adapters import ADAPTERS, adapter_of
from .by_gradient import Maml, Norml
from .es_maml import EsMaml

__all__ = [
    "ADAPTERS",
    "Adapter",
    "EsMaml",
    "Evolution",
    "Gradients",
    "Maml",
    "Means",
    "Norml",
    "Tries",
    "adapter_of",
    "worth",
]
