"""The equations of motion of MuJoCo models without contact, unrolled joint by joint over all worlds, to be compiled."""

from .dynamics import Dynamics
from .fields import Setting
from .rolling import Rolling, rolling
from .tree import unlike

__all__ = ["Dynamics", "Rolling", "Setting", "rolling", "unlike"]
