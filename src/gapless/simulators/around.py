"""What acts around the physics of a simulator that is stepped from Python: actuator, residual force and sensor blocks."""

from collections.abc import Callable, Iterator
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


PIECE = 256
"""Worlds of a piece."""
Memory = tuple[Any, ...]
"""What the worlds of each piece remember."""


class BlockWorlds:
    """A block in n worlds: jitted, mapped, with NumPy arrays in and out.

    Blocks that differ in numbers only share a program. Trainings ask for a power of two, which runs as it is; what else is
    asked for runs piece by piece in one program, whose last piece has a few worlds that are nobody's business. Memories are
    piece by piece, too.
    """

    def __init__(self, block: Block, worlds: int) -> None:
        self.size = worlds if worlds & (worlds - 1) == 0 else PIECE
        self._pieces = [slice(k, min(k + self.size, worlds)) for k in range(0, worlds, self.size)]
        self._arrays, static = eqx.partition(block, eqx.is_array)
        leaves, structure = jax.tree.flatten(static)
        self._step, self._init, self._hear = _compiled(structure, tuple(leaves), self.size)

    def init(self, key: PRNGKeyArray) -> Memory:
        return tuple(self._init(self._arrays, mine) for mine in self._keys(key))

    def chosen(self, where: np.ndarray, new: Memory, old: Memory) -> Memory:
        """A memory that is new in the masked worlds and old in the others."""
        masks = (self._filled(np.asarray(where)[piece]) for piece in self._pieces)
        return tuple(by_world(*each) for each in zip(masks, new, old, strict=True))

    def gathered(self, memory: Memory) -> Any:
        """What is remembered, worlds first."""
        held = [jax.tree.map(lambda v, n=p.stop - p.start: np.asarray(v)[:n], m) for p, m in self._both(memory)]
        return jax.tree.map(lambda *parts: np.concatenate(parts), *held)

    def step(
        self, params: Params, memory: Memory, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[Memory, dict[str, np.ndarray]]:
        found = [
            self._step(self._arrays, self._of(params, piece), held, self._of(inputs, piece), dt_s, mine)
            for (piece, held), mine in zip(self._both(memory), self._keys(key), strict=True)
        ]
        return tuple(m for m, _ in found), self._joined([out for _, out in found])

    def hear(
        self, params: Params, memory: Memory, inputs: Signals, dt_s: float, key: PRNGKeyArray
    ) -> tuple[Memory, dict[str, np.ndarray]]:
        """Many steps at once: inputs and outputs are (world, step, width)."""
        found = []
        for (piece, held), mine in zip(self._both(memory), self._keys(key), strict=True):
            in_turn = {k: np.moveaxis(v, 1, 0) for k, v in self._of(inputs, piece).items()}
            found.append(self._hear(self._arrays, self._of(params, piece), held, in_turn, dt_s, mine))
        return tuple(m for m, _ in found), self._joined(
            [{k: np.moveaxis(np.asarray(v), 0, 1) for k, v in out.items()} for _, out in found]
        )

    def _both(self, memory: Memory) -> Iterator[tuple[slice, Any]]:
        return zip(self._pieces, memory, strict=True)

    def _keys(self, key: PRNGKeyArray) -> list[PRNGKeyArray]:
        return [key if k == 0 else jax.random.fold_in(key, k) for k in range(len(self._pieces))]

    def _of(self, values: Params | Signals, piece: slice) -> dict[str, np.ndarray]:
        return {name: self._filled(np.asarray(v)[piece]) for name, v in values.items()}

    def _filled(self, rows: np.ndarray) -> np.ndarray:
        """Rows for all worlds of the program: the last one stands in for those that nobody asked for."""
        more = self.size - len(rows)
        return rows if not more else np.concatenate([rows, np.repeat(rows[-1:], more, axis=0)])

    def _joined(self, pieces: list[Signals]) -> dict[str, np.ndarray]:
        counts = [piece.stop - piece.start for piece in self._pieces]
        return {
            name: np.concatenate([np.asarray(out[name])[:n] for n, out in zip(counts, pieces, strict=True)])
            for name in pieces[0]
        }


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
