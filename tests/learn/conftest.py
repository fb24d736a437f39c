"""Logs of a pendulum whose numbers are hidden, and of a cart-pole that is driven along rails with hills."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Block, Log, Params, Signals
from gapless.simulators import Around, MujocoSimulator

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


class Hills(Block):
    """A force that depends on where a joint is, as if a rail were hilly."""

    joint: str = eqx.field(static=True)
    most: float = eqx.field(static=True)
    waves: float = eqx.field(static=True)

    def init(self, key: Any) -> Any:
        return jnp.zeros(())

    def step(self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: Any) -> Any:
        return memory, {f"{self.joint}.force": self.most * jnp.sin(self.waves * inputs[f"{self.joint}.position"])}


@pytest.fixture
def with_hills(cartpole: MujocoSimulator) -> Callable[[str, float, float], MujocoSimulator]:
    """The cart-pole with a hidden force on a joint: its size, and how often it turns along the way."""
    return lambda joint, most, waves: cartpole.with_around(Around(residual=Hills(joint, most, waves)))


@pytest.fixture
def drive(simulate: Callable[..., Log], lively_commands: Callable[..., Signals]) -> Callable[..., list[Log]]:
    def logs(
        simulator: MujocoSimulator, count: int, first: int, noise: tuple[float, float] = (2e-4, 1e-3)
    ) -> list[Log]:
        """Logs of a cart-pole under lively commands, with the noise of cart and pole."""
        params = {n: np.array([v]) for n, v in zip(("cart.position.noise", "pole.angle.noise"), noise, strict=True)}
        rows = [lively_commands(simulator.interface, 200, seed) for seed in range(first, first + count)]
        return [simulate(simulator, params, commands, seed=first + k) for k, commands in enumerate(rows)]

    return logs
