"""Real time, as frames: a game goes on at one pace however many pages look at it."""

import time
from collections.abc import Callable

MOST = 8
"""Frames that are made up for at most: where no page looks, or none can keep up, the world waits."""


class Clock:
    """What is due since anybody asked last."""

    def __init__(self, dt_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._dt_s, self._now = dt_s, now
        self._last, self._owed = now(), 0.0

    def due(self) -> int:
        """Whole frames that are owed now, and are not owed any more."""
        now = self._now()
        self._owed = min(self._owed + (now - self._last) / self._dt_s, MOST)
        self._last, frames = now, int(self._owed)
        self._owed -= frames
        return frames
