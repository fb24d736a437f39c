"""A robot, and how far one may go with it."""

from dataclasses import dataclass

import numpy as np

from ..robot import Robot
from ..signals import Signals


@dataclass(frozen=True)
class Handled:
    """A robot under examination."""

    robot: Robot
    move: bool = True
    """Whether it may be reset and commanded; otherwise it is connected and read, no more."""

    def begin(self, episode: int = 0) -> None:
        """Connected and, where that is allowed, at the start of an episode."""
        self.robot.connect()
        if self.move:
            self.robot.reset(episode)

    def rest(self) -> Signals:
        """The command nearest to zero within the limits."""
        return {c.name: np.clip(np.zeros(c.width), c.low, c.high) for c in self.robot.interface.commands}
