"""A convex body thrown onto a plane: free flight, and a material law at each corner that touches."""

from .body import Body, box, parameters
from .play import Start, play

__all__ = ["Body", "Start", "box", "parameters", "play"]
