"""What both simulators of a table share: the contract's names, and open-loop play from a trail of steps."""

import copy
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from jaxtyping import Float

from gapless.core import Holds, Params, Signals, Simulator

from ..traceable import interpolated
from .scene import Motion
from .tabletop import Tabletop


class TableSimulator(Simulator):
    """A robot on a table, stepped by whatever a subclass steps it with."""

    def __init__(self, table: Tabletop, worlds: int = 1) -> None:
        self.table, self.worlds = table, worlds
        self.interface, self.parameters, self.joints = table.interface, table.parameters, table.joints
        self.sensed = {
            c.name: (joint, "position") for c, joint in zip(table.interface.measurements, table.joints, strict=True)
        }

    @abstractmethod
    def _trail(
        self, params: Params, start: Signals, speeds: Float[np.ndarray, "world step command"]
    ) -> Float[np.ndarray, "world moment joint"]:
        """Positions of all joints at the start and after every step."""

    def with_worlds(self, worlds: int) -> Self:
        other = copy.copy(self)
        other.worlds = worlds
        return other

    def play(self, params: Params, start: Signals, holds: Holds, times: Float[np.ndarray, "world query"]) -> Signals:
        worlds, step_s = len(times), self.table.step_s
        steps = max(1, int(np.ceil(times.max() / step_s - 1e-9)))
        speeds = self._clipped(holds.averages(np.zeros(worlds), steps, step_s))
        trail = self.with_worlds(worlds)._trail(params, start, speeds)
        seen = np.stack([interpolated(t, times / step_s) for t in np.moveaxis(trail, -1, 0)], -1)
        return {name: seen[..., k : k + 1] for k, name in enumerate(self.sensed)}

    def _clipped(self, speeds: Any) -> Any:
        low, high = (
            np.array([getattr(c, side) for c in self.interface.commands], np.float32) for side in ("low", "high")
        )
        return speeds.clip(low, high)

    def _read(self, motion: Motion) -> tuple[Signals, Signals]:
        """What is measured, which has no noise, and what only a simulator knows."""
        position, velocity = self.table.read(motion)
        measured: Signals = {name: position[..., k : k + 1] for k, name in enumerate(self.sensed)}
        privileged: Signals = {f"{j}.position": position[..., k : k + 1] for k, j in enumerate(self.joints)}
        return measured, privileged | {f"{j}.velocity": velocity[..., k : k + 1] for k, j in enumerate(self.joints)}
