"""Open loops of a model without contact in double precision, many worlds at a time: what fits spend their time on."""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from jaxtyping import Float

from .dynamics import Dynamics, Motion
from .fields import Setting
from .tree import unlike

BLOCK = 256
"""Worlds of one program; more are rolled block by block, so that it is compiled once."""
PAYS = 4_000
"""Steps over all worlds from which on it is worth to leave MuJoCo."""
Trail = tuple[Float[np.ndarray, "world step joint"], Float[np.ndarray, "world step joint"]]


class Rolling:
    """Positions and velocities after each step, as MuJoCo's own `rollout` records them; compiled once for each length."""

    def __init__(self, model: mujoco.MjModel, names: tuple[str, ...]) -> None:
        self._dynamics, self._setting = Dynamics(model), Setting(model, names)
        self._names = tuple(name for name in names if name not in self._setting.held)
        self._rolled = jax.jit(self._roll)

    def holds(self, params: dict[str, np.ndarray]) -> bool:
        """Whether these parameters are the model's own wherever its equations cannot set them."""
        return all(np.all(params[name] == value) for name, value in self._setting.held.items())

    def roll(
        self, params: dict[str, np.ndarray], position: np.ndarray, velocity: np.ndarray, control: np.ndarray, applied: np.ndarray
    ) -> Trail:  # fmt: skip
        """`control` is (world, step, actuator), `applied` the force on each joint throughout; all else is as in a batch."""
        worlds, steps = control.shape[:2]
        room = _room(steps)
        padded = np.concatenate([control, np.zeros((worlds, room - steps, control.shape[2]))], axis=1)
        every = [*(params[n] for n in self._names), position, velocity, padded, applied]
        trails = [self._block([_filled(rows[k : k + BLOCK]) for rows in every]) for k in range(0, worlds, BLOCK)]
        whole = (np.concatenate(side)[:worlds, :steps] for side in zip(*trails, strict=True))
        return next(whole), next(whole)

    def _block(self, rows: list[np.ndarray]) -> Trail:
        with jax.enable_x64(True):
            return jax.device_get(self._rolled(*rows))

    def _roll(self, *rows: Any) -> Any:
        *values, position, velocity, control, applied = rows
        fields = self._setting.fields(dict(zip(self._names, values, strict=True)))
        machine = self._dynamics.machine(fields)
        forces = list(applied.T)

        def once(held: Any, commands: Any) -> Any:
            held = self._dynamics.step(machine, held, list(commands), forces)
            return held, tuple(map(jnp.stack, held))

        begun = Motion(list(position.T), list(velocity.T))
        _, trails = jax.lax.scan(once, begun, jnp.transpose(control, (1, 2, 0)))
        return tuple(jnp.transpose(side, (2, 0, 1)) for side in trails)


@lru_cache(maxsize=64)
def rolling(model: mujoco.MjModel, names: tuple[str, ...]) -> Rolling | None:
    """The open loops of a model with these parameters; None where it has what its equations here have not."""
    return None if unlike(model) is not None else Rolling(model, names)


def _room(steps: int) -> int:
    """Steps of the program that rolls so many: up to eight as they are, then the next of 12, 16, 24, 32, 48, ..."""
    power = 1 << max(3, (steps - 1).bit_length())
    return steps if steps <= 8 else next(room for room in (power * 3 // 4, power) if room >= steps)


def _filled(rows: np.ndarray) -> np.ndarray:
    """Rows of a whole block: the last one stands in for those that nobody asked for."""
    more = BLOCK - len(rows)
    whole = rows if not more else np.concatenate([rows, np.repeat(rows[-1:], more, axis=0)])
    return np.asarray(whole, np.float64)
