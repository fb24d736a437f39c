"""A world to play with: bodies are drawn, dropped and pushed, and a network and Box2D step the same scene side by side."""

from .foresight import foresight, happening
from .requests import answers
from .session import DT_S, Session

__all__ = ["DT_S", "Session", "answers", "foresight", "happening"]
