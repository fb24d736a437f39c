"""What we think happens: n worlds at once, every argument with a leading world axis."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from jaxtyping import Bool, Float

from .errors import GaplessError
from .interface import Interface
from .parameter import Parameter
from .signals import Array, Params, Signals

State = Any
Key = Any
"""A JAX key, or for simulators stepped from Python its plain numbers."""


class Simulator(ABC):
    """A machine and its world, stepped once per control period.

    `start` names joint states, `<joint>.position` and `<joint>.velocity`; the others begin at the model's default.
    """

    interface: Interface
    parameters: tuple[Parameter, ...]
    worlds: int
    traceable: bool
    """Whether it can be stepped inside jit."""
    sensed: dict[str, tuple[str, str]]
    """Channels that read a joint directly → the joint and "position" or "velocity"."""
    changes_itself: bool = False
    """Whether what a task says to change within an episode changes there anyway."""
    follows: bool = False
    """Whether `play` follows physical parameters that change from period to period, given as (world, period)."""
    joints: tuple[str, ...]
    """Hinge and slide joints, whose states `start` names."""

    @abstractmethod
    def with_worlds(self, worlds: int) -> Self:
        """The same simulator with another number of worlds."""

    @abstractmethod
    def init(self) -> State:
        """A state of all worlds that `reset` must fill before the first step."""

    @abstractmethod
    def reset(
        self, state: State, where: Bool[Array, " world"], params: Params, start: Signals, key: Key
    ) -> tuple[State, Signals, Signals]:
        """Begin anew in the masked worlds only; the state, and measurement and privileged signals of all worlds."""

    @abstractmethod
    def step(self, state: State, command: Signals, key: Key) -> tuple[State, Signals, Signals]:
        """One control period later: the state, what sensors read, what only a simulator knows. Consumes `state`."""

    def change(self, state: State, params: Params) -> State:
        """The state with other parameters from now on, each (world,). Consumes `state`."""
        raise GaplessError("the parameters of this simulator stay as they are within an episode. Use MuJoCo for this.")

    @abstractmethod
    def snapshot(self, state: State) -> State:
        """A copy that later steps do not touch."""

    @abstractmethod
    def restore(self, snapshot: State) -> State:
        """A state to go on from, leaving the snapshot as it is."""

    def place(self, state: State, joints: Signals) -> State:
        """The same worlds with the named joint states put there; commands under way stay so. Consumes `state`."""
        raise GaplessError(
            f"{type(self).__name__} cannot put its joints where they were measured, so nothing can be planned in it. "
            "Plan in MuJoCo or in a clone of it."
        )

    @abstractmethod
    def play(self, params: Params, start: Signals, holds: "Holds", times: Float[np.ndarray, "world query"]) -> Signals:
        """Open loop: what noise-free sensors read at each world's times, each (world, query, width).

        World i starts at time 0 from row i of `start`; its commands are held as `holds` says.
        """


Course = tuple[Float[np.ndarray, " sample"], Float[np.ndarray, " sample"]]
"""Times, and a channel's values then."""


class Holds:
    """Commands held from one sending to the next, on each world's own clock (0 is the world's start).

    Several worlds share one log, so the commands are stored once per log: `log[i]` says which one world i follows and
    `offset_s[i]` at which time of that log world i starts. `seen` has each log's measurements, by channel, where there are any:
    what a world may know of the time before its start.
    """

    def __init__(
        self,
        times: list[Float[np.ndarray, " sent"]],
        values: list[Float[np.ndarray, "sent width"]],
        log: np.ndarray,
        offset_s: Float[np.ndarray, " world"],
        seen: list[dict[str, Course]] | None = None,
    ) -> None:
        self.times, self.values, self.log, self.offset_s = times, values, log, offset_s
        self.seen = seen
        # The integral of a held signal is piecewise linear: averages over any interval become two interpolations.
        self.integrals = [
            np.concatenate([np.zeros((1, v.shape[1])), np.cumsum(v[:-1] * np.diff(t)[:, None], axis=0)])
            for t, v in zip(times, values, strict=True)
        ]

    def averages(
        self, latency_s: Float[np.ndarray, " world"], steps: int, step_s: float
    ) -> Float[np.ndarray, "world step width"]:
        """The mean of each world's delayed command over each of `steps` intervals of `step_s`."""
        edges = np.arange(steps + 1) * step_s + (self.offset_s - latency_s)[:, None]
        width = self.values[0].shape[1]
        out = np.empty((len(edges), steps, width))
        for which in range(len(self.times)):
            mine = np.flatnonzero(self.log == which)
            for column in range(width):
                integral = self._integral(which, column, edges[mine])
                out[mine, :, column] = np.diff(integral, axis=1) / step_s
        return out

    def measured(self, channel: str, at_s: Float[np.ndarray, " query"]) -> Float[np.ndarray, "world query"] | None:
        """What each world's log measured at these times of the world's clock, its ends held; None where nobody knows."""
        if self.seen is None:
            return None
        found = np.empty((len(self.log), len(at_s)))
        for which, log in enumerate(self.seen):
            if channel not in log:
                return None
            mine = np.flatnonzero(self.log == which)
            found[mine] = np.interp(at_s + self.offset_s[mine, None], *log[channel])
        return found

    def _integral(self, which: int, column: int, at: np.ndarray) -> np.ndarray:
        t, f, v = self.times[which], self.integrals[which][:, column], self.values[which][:, column]
        inside = np.interp(at, t, f)
        # Before the first command the first is taken to hold, and after the last the last.
        return inside + np.minimum(at - t[0], 0) * v[0] + np.maximum(at - t[-1], 0) * v[-1]
