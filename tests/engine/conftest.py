"""A workspace of the built-in cart-pole, and a cart-pole without physics that can be interrupted anywhere."""

from pathlib import Path

import numpy as np
import pytest

from gapless.core import Robot, Signals
from gapless.engine import Workspace, new_workspace
from gapless.robots.cartpole import INTERFACE


class Pretender(Robot):
    """A cart that rests and a pole that swings as the clock says, each episode a little differently."""

    interface = INTERFACE

    def __init__(self, breaks_after: int | None = None) -> None:
        self.breaks_after, self.reads = breaks_after, 0
        self._time_s, self._episode = 0.0, 0

    def connect(self) -> None: ...

    def disconnect(self) -> None: ...

    def reset(self, episode: int) -> None:
        self._time_s, self._episode = 0.0, episode

    def get_observation(self) -> Signals:
        self.reads += 1
        if self.breaks_after is not None and self.reads > self.breaks_after:
            raise KeyboardInterrupt
        angle = 0.1 * np.sin(3 * self._time_s) + 0.01 * self._episode
        return {"cart.position": np.zeros(1), "pole.angle": np.array([angle])}

    def send_action(self, command: Signals) -> Signals:
        return {k: np.asarray(v, np.float64) for k, v in command.items()}

    def now(self) -> float:
        return self._time_s

    def wait_until(self, time_s: float) -> None:
        self._time_s = max(self._time_s, time_s)


@pytest.fixture
def pretender() -> type[Pretender]:
    return Pretender


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path / "cart", "cartpole", "swingup")
