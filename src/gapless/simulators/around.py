"""What acts around the physics of a simulator that is stepped from Python: actuator, residual force and sensor blocks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gapless.core import Block, Parameter, Params, Signals, by_world


@dataclass(frozen=True)
class Around:
    """Learned or written parts between command and physics, beside the physics, and between physics and measurement."""

    actuator: Block | None = None
    """Maps the delayed command and the joint states to the command that the physics receives."""
    residual: Block | None = None
    """Maps command and joint states to "<joint>.force", generalised forces added to the physics, "<command>.change", added to
    the command, and "<joint>.velocity.change" or "<joint>.position.change", added to the state as a period begins."""
    sensor: Block | None = None
    """Maps the true measurement to what is read."""
    physics_rate: bool = False
    """Whether actuator and residual run at every substep (a Python call each) or once per control period."""
    parameters: tuple[Parameter, ...] = ()
    """What its blocks read beside the parameters of the physics."""

    @property
    def recalls(self) -> int:
        """Control periods before a start of which the residual wants to hear the commands."""
        return 0 if self.residual is None else self.residual.recalls

    @property
    def before_physics(self) -> bool:
        return self.actuator is not None or self.residual is not None


class BlockWorlds:
    """A block in n worlds: jitted, mapped, with NumPy arrays in and out. Blocks that differ in numbers only share a program."""

    def __init__(self, block: Block, worlds: int) -> None:
        self.worlds = worlds
        self._arrays, static = eqx.partition(block, eqx.is_array)
        leaves, structure = jax.tree.flatten(static)
        self._step, self._init, self._hear = _compiled(structure, tuple(leaves), worlds)

    def init(self, key: PRNGKeyArray) -> Any:
        return self._init(self._arrays, key)

    def reset(self, memory: Any, where: np.ndarray, key: PRNGKeyArray) -> Any:
        """Fresh memory in the masked worlds."""
        return by_world(where, self.init(key), memory)

    def step(
        self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[Any, dict[str, np.ndarray]]:
        memory, outputs = self._step(self._arrays, params, memory, inputs, dt_s, key)
        return memory, {k: np.asarray(v) for k, v in outputs.items()}

    def hear(
        self, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[Any, dict[str, np.ndarray]]:
        """Many steps at once: inputs and outputs are (world, step, width)."""
        in_turn = {k: np.moveaxis(v, 1, 0) for k, v in inputs.items()}
        memory, outputs = self._hear(self._arrays, params, memory, in_turn, dt_s, key)
        return memory, {k: np.moveaxis(np.asarray(v), 0, 1) for k, v in outputs.items()}


@lru_cache(maxsize=256)
def _compiled(structure: Any, leaves: tuple, worlds: int) -> tuple[Callable[..., Any], ...]:
    """Step, init and many steps of all worlds, for every block of one form."""
    static = jax.tree.unflatten(structure, leaves)

    def step(arrays: Any, params: Params, memory: Any, inputs: Signals, dt_s: float, key: PRNGKeyArray) -> Any:
        whole = eqx.combine(arrays, static)
        keys = jax.random.split(key, worlds)
        return jax.vmap(whole.step, (0, 0, 0, None, 0))(params, memory, inputs, dt_s, keys)

    def init(arrays: Any, key: PRNGKeyArray) -> Any:
        return jax.vmap(eqx.combine(arrays, static).init)(jax.random.split(key, worlds))

    def hear(arrays: Any, params: Params, memory: Any, in_turn: Signals, dt_s: float, key: PRNGKeyArray) -> Any:
        return jax.lax.scan(lambda held, now: step(arrays, params, held, now, dt_s, key), memory, in_turn)

    return jax.jit(step), jax.jit(init), jax.jit(hear)
