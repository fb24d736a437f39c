"""Logs of a pendulum whose numbers are hidden."""

from collections.abc import Callable

import numpy as np
import pytest

from gapless.core import Log, Signals
from gapless.simulators import MujocoSimulator

HIDDEN = {"hinge.damping": 0.05, "motor.gain": 1.3, "command.latency": 0.021, "hinge.position.noise": 0.001}


@pytest.fixture
def hidden() -> dict[str, float]:
    return dict(HIDDEN)


@pytest.fixture
def collect(
    pendulum: MujocoSimulator, simulate: Callable[..., Log], lively_commands: Callable[..., Signals]
) -> Callable[..., list[Log]]:
    def logs(count: int = 3, seconds: float = 2.5, first: int = 0, idle: bool = False, **other: float) -> list[Log]:
        """Logs of the pendulum with its hidden numbers, or others where given, under lively or no commands."""
        rows = round(seconds / pendulum.interface.period_s)
        params = {k: np.array([v]) for k, v in (HIDDEN | {k.replace("_", "."): v for k, v in other.items()}).items()}
        found = []
        for seed in range(first, first + count):
            commands = lively_commands(pendulum.interface, rows, seed)
            commands = {k: 0 * v if idle else v for k, v in commands.items()}
            found.append(simulate(pendulum, params, commands, seed=seed))
        return found

    return logs
