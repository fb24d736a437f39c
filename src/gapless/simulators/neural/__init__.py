"""Robots that a network steps: joints move by what it learned from MuJoCo, and everything around the physics stays computed."""

from .clone import Clone, Limb, Trunk
from .simulator import MEMBER, CloneSimulator, over_members
from .skeleton import Skeleton

__all__ = ["MEMBER", "Clone", "CloneSimulator", "Limb", "Skeleton", "Trunk", "over_members"]
