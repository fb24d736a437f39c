"""A simulator as a log with doubtful conventions shows it: scales, offsets, clocks and gravity become parameters to fit."""

from typing import Self

import numpy as np
from jaxtyping import Float

from gapless.core import Holds, Parameter, Params, Signals, Simulator
from gapless.simulators import MujocoSimulator

SCALE, OFFSET, LATE, CLOCK = ".logged_scale", ".logged_offset", ".logged_late", "commands.logged_late"
GRAVITY = ("gravity.x", "gravity.y", "gravity.z")
ENDINGS = (SCALE, OFFSET, LATE)


class AsLogged(Simulator):
    """Wraps a simulator; only `play` knows the conventions, as that is all a fit needs."""

    traceable = False

    def __init__(self, inside: Simulator, doubts: tuple[Parameter, ...]) -> None:
        self.inside = _with_gravity(inside, tuple(p for p in doubts if p.name in GRAVITY))
        self.doubts = tuple(p for p in doubts if p.name not in GRAVITY)
        self.parameters = self.inside.parameters + self.doubts
        self.interface, self.worlds = inside.interface, inside.worlds
        self.sensed, self.joints = inside.sensed, inside.joints

    def with_worlds(self, worlds: int) -> Self:
        return type(self)(self.inside.with_worlds(worlds), self.doubts)

    def play(self, params: Params, start: Signals, holds: Holds, times: Float[np.ndarray, "world query"]) -> Signals:
        own = {n: v for n, v in params.items() if not n.endswith(ENDINGS) and n != CLOCK}
        sent = _Sent(holds, self._command_scales(params), np.asarray(params.get(CLOCK, 0.0)))
        late = {c.name: params[c.name + LATE] for c in self.interface.measurements if c.name + LATE in params}
        asked = [times, *(np.maximum(times - np.asarray(v).reshape(-1, 1), 0.0) for v in late.values())]
        every = self.inside.play(own, start, sent, np.concatenate(asked, axis=1))
        seen = {}
        for c in self.interface.measurements:
            block = 1 + list(late).index(c.name) if c.name in late else 0
            values = every[c.name][:, block * times.shape[1] : (block + 1) * times.shape[1]]
            scale, offset = (np.asarray(params.get(c.name + e, d)) for e, d in ((SCALE, 1.0), (OFFSET, 0.0)))
            seen[c.name] = values * scale.reshape(-1, 1, 1) + offset.reshape(-1, 1, 1)
        return seen

    def _command_scales(self, params: Params) -> list[np.ndarray]:
        return [
            np.asarray(params.get(c.name + SCALE, 1.0)).reshape(-1)
            for c in self.interface.commands
            for _ in range(c.width)
        ]

    def init(self) -> None:
        raise TypeError("a simulator as logged is played, not stepped")

    reset = step = snapshot = restore = init  # type: ignore[assignment]


class _Sent(Holds):
    """Commands that reach the machine scaled and late, each world by its own numbers."""

    def __init__(self, holds: Holds, scales: list[np.ndarray], late_s: np.ndarray) -> None:
        self.__dict__.update(holds.__dict__)
        self._scales, self._late_s = scales, late_s

    def averages(self, latency_s: np.ndarray, steps: int, step_s: float) -> Float[np.ndarray, "world step width"]:
        found = super().averages(latency_s + self._late_s, steps, step_s)
        for column, scale in enumerate(self._scales):
            found[..., column] *= scale[:, None]
        return found


def _with_gravity(simulator: Simulator, gravity: tuple[Parameter, ...]) -> Simulator:
    if not gravity or not isinstance(simulator, MujocoSimulator):
        return simulator
    others = tuple(p for p in simulator.parameters if not p.name.startswith("gravity."))
    return MujocoSimulator(simulator.model, simulator.interface, others + gravity, simulator.worlds, simulator.around)
