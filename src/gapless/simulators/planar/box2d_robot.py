"""The same robot on the same table in Box2D: where policies that were trained in a clone are tried."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from gapless.core import Params, Signals

from .scene import Motion, Scene
from .table_simulator import TableSimulator
from .tabletop import SUBSTEPS
from .teacher import Box2DWorld


@dataclass
class Box2DState:
    """Worlds of Box2D, where their bodies are, and their parameters; consumed by every step."""

    worlds: list[Box2DWorld | None]
    """None before the first reset."""
    motion: Motion
    params: dict[str, Float[np.ndarray, " world"]]


class Box2DRobot(TableSimulator):
    """A table in Box2D, world by world."""

    traceable = False

    def init(self) -> Box2DState:
        return Box2DState([None] * self.worlds, _copied(self.table.motion({}, self.worlds)), self._complete({}))

    def reset(
        self, state: Box2DState, where: Any, params: Params, start: Signals, key: Any
    ) -> tuple[Box2DState, Signals, Signals]:
        self.table.check(params)
        masked, given = np.asarray(where), self._complete(params)
        for name in params:
            state.params[name] = np.where(masked, given[name], state.params[name])
        begun = _copied(self.table.motion(start, self.worlds))
        for old, new in zip(state.motion, begun, strict=True):
            old[masked] = new[masked]
        self._build(state, np.flatnonzero(masked))
        return state, *self._read(_single(state.motion))

    def step(self, state: Box2DState, command: Signals, key: Any) -> tuple[Box2DState, Signals, Signals]:
        speeds = np.concatenate([np.asarray(command[c.name], np.float32) for c in self.interface.commands], -1)
        speeds = self._clipped(speeds)
        for _ in range(SUBSTEPS):
            self._step_once(state, speeds)
        return state, *self._read(_single(state.motion))

    def snapshot(self, state: Box2DState) -> Box2DState:
        return Box2DState([None] * self.worlds, _copied(state.motion), dict(state.params))

    def restore(self, snapshot: Box2DState) -> Box2DState:
        state = self.snapshot(snapshot)
        self._build(state, range(self.worlds))
        return state

    def _trail(
        self, params: Params, start: Signals, speeds: Float[np.ndarray, "world step command"]
    ) -> Float[np.ndarray, "world moment joint"]:
        state, _, _ = self.reset(self.init(), np.ones(self.worlds, bool), params, start, None)
        trail = [self.table.read(_single(state.motion))[0]]
        for k in range(speeds.shape[1]):
            self._step_once(state, speeds[:, k].astype(np.float32))
            trail.append(self.table.read(_single(state.motion))[0])
        return np.stack(trail, 1).astype(np.float64)

    def _step_once(self, state: Box2DState, speeds: Float[np.ndarray, "world command"]) -> None:
        commanded = self.table.commanded(_single(state.motion), speeds)  # pyright: ignore[reportArgumentType]
        for k, world in enumerate(state.worlds):
            assert world is not None
            after = world.step(self.table.step_s, commanded=commanded[k])
            for rows, row in zip(state.motion, after, strict=True):
                rows[k] = row

    def _build(self, state: Box2DState, which: Any) -> None:
        """Worlds anew, where their bodies are now."""
        z = np.asarray(self.table.embeddings(state.params))
        for k in which:
            scene: Scene = self.table.scene._replace(z=z[k])
            state.worlds[k] = Box2DWorld(scene, Motion(*(rows[k] for rows in state.motion)))

    def _complete(self, params: Params) -> dict[str, np.ndarray]:
        return {k: np.array(v, np.float64) for k, v in self.table.complete(params, self.worlds).items()}


def _copied(motion: Motion) -> Motion:
    return jax.tree.map(lambda x: np.array(x, np.float64), motion)


def _single(motion: Motion) -> Motion:
    """As precise as Box2D itself, and as what a clone reads."""
    return jax.tree.map(lambda x: np.asarray(x, np.float32), motion)
