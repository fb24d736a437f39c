"""What a simulator predicts in each window, and how that changes with parameters and starts: all in one call of the batch."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gapless.core import Belief, Params, Signals, Simulator
from gapless.simulators.quiet import quietly

from .windows import Windows, read_joints

START_STEP = 1e-4
PARAM_STEP = 1e-3
"""Finite differences, as shares of the natural scale: the prior's deviation, or one radian, metre, or their rate."""


class Slopes(NamedTuple):
    """Residuals (predicted − measured) and their derivatives, in SI units."""

    residual: Float[np.ndarray, "window query"]
    by_param: Float[np.ndarray, "window query param"]
    by_start: Float[np.ndarray, "window query state"]


Shapes = dict[str, tuple[str, Float[np.ndarray, "window period"]]]
"""For each name that is an amplitude: the parameter that it adds to, and how much of it in each period of each window."""


class Shooting:
    """Simulates windows; parameters are vectors in the order of `names`.

    What `shapes` holds is an amplitude, by which a parameter departs in each period, to nowhere below what it can be.
    """

    def __init__(
        self,
        simulator: Simulator,
        windows: Windows,
        names: tuple[str, ...],
        fixed: Params,
        shapes: Shapes | None = None,
    ) -> None:
        self.simulator, self.windows, self.names, self.shapes = simulator, windows, names, shapes or {}
        self.fixed = {k: np.asarray(v, np.float64) for k, v in fixed.items() if k not in names}
        units = {c.name: c.unit for c in simulator.interface.measurements}
        self._angle = np.array([units[name] == "rad" for name, _ in windows.columns])[windows.channel]

    def residuals(
        self, params: Float[np.ndarray, "copy param"], starts: Float[np.ndarray, "copy window state"]
    ) -> Float[np.ndarray, "copy window query"]:
        """Predicted − measured for several sets of parameters and starts at once; 0 where nothing was measured."""
        copies, count = len(params), len(self.windows)
        values = {k: v.reshape(copies * count, *v.shape[2:]) for k, v in self._values(params).items()}
        times = np.tile(self.windows.times, (copies, 1))
        simulator = self.simulator.with_worlds(copies * count)
        start, holds = self._start(starts.reshape(copies * count, -1)), self.windows.holds(copies)
        with quietly():  # a search tries what flies apart, and learns from it
            seen = simulator.play(values, start, holds, times)
        predicted = np.empty_like(times)
        for k, (name, part) in enumerate(self.windows.columns):
            here = self.windows.channel == k
            predicted[:, here] = seen[name][:, here, part]
        off = predicted.reshape(copies, count, -1) - self.windows.measured
        off = np.where(self._angle, np.angle(np.exp(1j * off)), off)
        return np.where(self.windows.present & np.isfinite(off), off, np.where(np.isfinite(off), 0.0, 1e3))

    def at(self, params: Float[np.ndarray, " param"]) -> "Shooting":
        """The same with nothing left to choose."""
        return Shooting(self.simulator, self.windows, (), {k: v[0] for k, v in self._values(params[None]).items()})

    def _values(self, params: Float[np.ndarray, "copy param"]) -> dict[str, Float[np.ndarray, "copy window *period"]]:
        """Every parameter in every window of every copy, and in every period where it varies and the simulator follows."""
        shape = len(params), len(self.windows)
        given = dict(zip(self.names, params.T, strict=True))
        values = {k: np.broadcast_to(v, (*shape, *v.shape[1:])) for k, v in self.fixed.items()}
        values |= {n: np.broadcast_to(v[:, None], shape) for n, v in given.items() if n not in self.shapes}
        low = {p.name: p.low for p in self.simulator.parameters}
        moved = {name: self.shapes[name] for name in given if name in self.shapes}
        for param in {param for param, _ in moved.values()}:
            parts = [given[name][:, None, None] * part for name, (other, part) in moved.items() if other == param]
            course = np.maximum(values[param][..., None] + sum(parts), low[param])
            values[param] = course if self.simulator.follows else course.mean(axis=-1)
        return values

    def slopes(
        self, params: Float[np.ndarray, " param"], starts: Float[np.ndarray, "window state"], scale: np.ndarray
    ) -> Slopes:
        """Residuals and forward differences: one column of the batch for each parameter and each state of a start."""
        p, s = len(params), starts.shape[1]
        moved = np.tile(params, (1 + p + s, 1))
        moved[1 + np.arange(p), np.arange(p)] += PARAM_STEP * scale
        begun = np.tile(starts, (1 + p + s, 1, 1))
        begun[1 + p + np.arange(s), :, np.arange(s)] += START_STEP
        found = self.residuals(moved, begun)
        change = np.moveaxis(found[1:] - found[0], 0, -1)
        return Slopes(found[0], change[..., :p] / (PARAM_STEP * scale), change[..., p:] / START_STEP)

    def _start(self, states: Float[np.ndarray, "world state"]) -> Signals:
        joints = read_joints(self.simulator)
        sides = [f"{j}.{side}" for side in ("position", "velocity") for j in joints]
        return {name: states[:, i : i + 1] for i, name in enumerate(sides)}


def centre_of(belief: Belief) -> tuple[tuple[str, ...], Float[np.ndarray, " param"]]:
    """The names of a belief's parameters and their means, as a vector."""
    mean = belief.mean()
    return belief.names, np.array([float(np.asarray(mean[n])) for n in belief.names])
