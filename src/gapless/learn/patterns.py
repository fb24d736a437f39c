"""Three patterns in which a parameter varies within logs: with time since an episode began, with load, along a joint's travel."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gapless.core import Log

from .load import load_so_far
from .windows import Windows

Places = dict[str, Float[np.ndarray, "window period"]]
"""Where each joint is in the periods of each window."""


@dataclass(frozen=True)
class Pattern(ABC):
    """One way in which a parameter differs from period to period: an amplitude times a shape."""

    param: str
    least: float
    """What the parameter cannot fall below."""
    span: float
    """Of an episode's seconds, of the load, or of the joint's travel."""

    @property
    def name(self) -> str:
        """What its amplitude is called among parameters."""
        return f"{self.param} {self.group}"

    @property
    @abstractmethod
    def group(self) -> str:
        """What it runs over, in words; patterns of one parameter over the same add up."""

    @abstractmethod
    def shape(self, windows: Windows, places: Places) -> Float[np.ndarray, "window period"]:
        """The pattern in each period."""

    def wave(self, share: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
        """The pattern where this share of the span is behind."""
        return share

    def said(self, value: Float[np.ndarray, " share"]) -> str:
        """What a parameter does that takes these values over the span."""
        change = float(value[-1] - value[0])
        by = f"{abs(change / value[0]):.0%}".replace("%", " %") if value[0] else f"{abs(change):.2g}"
        return f"{self.param} {'rises' if change > 0 else 'falls'} by {by} {self.group}"


@dataclass(frozen=True)
class InTime(Pattern):
    """As things warm up or wear in: the part of an episode that is over."""

    @property
    def group(self) -> str:
        return f"in {self.span:.3g} s"

    def shape(self, windows: Windows, places: Places) -> Float[np.ndarray, "window period"]:
        return (windows.begin_s[:, None] + middles(windows) - _begun(windows)) / self.span


@dataclass(frozen=True)
class UnderLoad(Pattern):
    """As a motor tires: the load so far."""

    lag_s: float
    """After which load is felt."""

    @property
    def name(self) -> str:
        return f"{self.param} {self.group}, felt after {self.lag_s:.3g} s"

    @property
    def group(self) -> str:
        return "under load"

    def shape(self, windows: Windows, places: Places) -> Float[np.ndarray, "window period"]:
        at_s = windows.begin_s[:, None] + middles(windows)
        loads = [(log.command_time, self.load(log)) for log in windows.logs]
        return np.array([np.interp(at, *loads[k]) for k, at in zip(windows.which, at_s, strict=True)]) / self.span

    def load(self, log: Log) -> Float[np.ndarray, " sent"]:
        """What loads the part that the parameter belongs to."""
        return load_so_far(log, self.param.split(".")[0], self.lag_s)


@dataclass(frozen=True)
class Along(Pattern):
    """From place to place: half-waves over a joint's travel."""

    joint: str
    begin: float
    """Of the travel."""
    order: int = 1
    """How many half-waves."""

    @property
    def name(self) -> str:
        return f"{self.param} {self.group}, {self.order}"

    @property
    def group(self) -> str:
        return f"along {self.joint}"

    def shape(self, windows: Windows, places: Places) -> Float[np.ndarray, "window period"]:
        return self.wave(np.clip((places[self.joint] - self.begin) / self.span, 0.0, 1.0))

    def wave(self, share: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
        return np.cos(np.pi * self.order * share)

    def said(self, value: Float[np.ndarray, " share"]) -> str:
        return f"{self.param} varies {self.group} by {np.ptp(value):.2g}"


def middles(windows: Windows) -> Float[np.ndarray, " period"]:
    """Times in a window at which its periods are half over."""
    period_s = windows.logs[0].interface.period_s
    return (np.arange(int(np.ceil(windows.seconds / period_s - 1e-9))) + 0.5) * period_s


def _begun(windows: Windows) -> Float[np.ndarray, "window 1"]:
    """When the log of each window began."""
    return np.array([windows.logs[k].command_time[0] for k in windows.which])[:, None]
