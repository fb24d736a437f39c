"""A world to play with: bodies are drawn, dropped and pushed, and a network and Box2D step the same scene side by side."""

from .requests import answers
from .session import Session

__all__ = ["Session", "answers"]
