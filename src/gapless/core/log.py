"""What happened once: commands sent and measurements read, each with its own clock. Reality and simulation write the same."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from .errors import GaplessError
from .interface import Interface
from .signals import Signals


@dataclass(frozen=True)
class Log:
    """One episode. Row k of a channel was taken (or sent) at row k of its clock, in seconds from the log's start."""

    interface: Interface
    commands: dict[str, Float[np.ndarray, "time width"]]
    measurements: dict[str, Float[np.ndarray, "time width"]]
    command_time: Float[np.ndarray, " time"]
    measurement_time: dict[str, Float[np.ndarray, " time"]]
    source: dict[str, Any] = field(default_factory=dict)
    """Where it came from: robot, policy, episode, and `stopped`, the reason if it ended early."""

    def __post_init__(self) -> None:
        for channel in self.interface.commands:
            _require_shape(self.commands, channel.name, (len(self.command_time), channel.width))
        for channel in self.interface.measurements:
            clock = self.measurement_time.get(channel.name, np.empty(0))
            _require_shape(self.measurements, channel.name, (len(clock), channel.width))

    def __len__(self) -> int:
        return len(self.command_time)

    @property
    def seconds(self) -> float:
        """Time from the first command to the end of the period of the last one."""
        if not len(self):
            return 0.0
        return float(self.command_time[-1] - self.command_time[0]) + self.interface.period_s

    def first(self, rows: int) -> "Log":
        """Its first rows."""
        return replace(
            self,
            commands={name: values[:rows] for name, values in self.commands.items()},
            measurements={name: values[:rows] for name, values in self.measurements.items()},
            command_time=self.command_time[:rows],
            measurement_time={name: clock[:rows] for name, clock in self.measurement_time.items()},
        )

    def with_source(self, **more: Any) -> "Log":
        return replace(self, source={**self.source, **more})


def on_one_clock(
    interface: Interface,
    commands: Signals,
    measurements: Signals,
    times: Float[np.ndarray, " time"],
    source: dict[str, Any] | None = None,
) -> Log:
    """A log whose rows were sent and taken at the same instants, as simulators write it."""
    clock = np.asarray(times, np.float64)
    return Log(
        interface,
        {k: np.asarray(v, np.float64) for k, v in commands.items()},
        {k: np.asarray(v, np.float64) for k, v in measurements.items()},
        clock,
        dict.fromkeys(measurements, clock),
        source or {},
    )


def _require_shape(signals: dict[str, np.ndarray], name: str, shape: tuple[int, int]) -> None:
    if name not in signals:
        raise GaplessError(f"the log has no channel {name!r} (it has: {', '.join(signals)}). Record it or map it.")
    if signals[name].shape != shape:
        raise GaplessError(f"channel {name!r} has shape {signals[name].shape}; its clock and interface say {shape}.")
