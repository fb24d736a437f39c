"""The equations of motion of MuJoCo models without contact, unrolled joint by joint over all worlds, to be compiled."""

from .dynamics import Dynamics, Motion
from .fields import Setting
from .rolling import Rolling, rolling
from .tree import unlike

__all__ = ["Dynamics", "Motion", "Rolling", "Setting", "rolling", "unlike"]
