"""Wrong conventions undone: each is one change to logs, and the same change to the mapping file they were imported with."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from gapless.core import GaplessError, Log
from gapless.logs import Mapping, Reading

COMMANDS = "the commands"
"""How the clock that all commands share is called."""


class Undo(ABC):
    """One change that would put the logs right."""

    @abstractmethod
    def on_log(self, log: Log) -> Log:
        """The log as it would be with the right convention."""

    @abstractmethod
    def on_mapping(self, mapping: Mapping) -> Mapping:
        """The mapping that imports it so."""


@dataclass(frozen=True)
class Exchange(Undo):
    """Two channels take each other's values; clocks of measurements go along."""

    first: str
    second: str

    def on_log(self, log: Log) -> Log:
        a, b = self.first, self.second
        if a in log.commands and b in log.measurements:
            return _crossed(log, a, b)
        if a in log.commands:
            return replace(log, commands=_exchanged(log.commands, a, b))
        clocks = _exchanged(log.measurement_time, a, b)
        return replace(log, measurements=_exchanged(log.measurements, a, b), measurement_time=clocks)

    def on_mapping(self, mapping: Mapping) -> Mapping:
        mine, other = (_reading(mapping, name) for name in (self.first, self.second))
        crossed = {self.first: _read_as(mine, other), self.second: _read_as(other, mine)}
        return replace(mapping, channels={**mapping.channels, **crossed})


@dataclass(frozen=True)
class Rescale(Undo):
    """A channel becomes factor · what was logged + offset."""

    channel: str
    factor: float = 1.0
    offset: float = 0.0

    def on_log(self, log: Log) -> Log:
        def done(signals: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            if self.channel not in signals:
                return signals
            return {**signals, self.channel: self.factor * signals[self.channel] + self.offset}

        return replace(log, commands=done(log.commands), measurements=done(log.measurements))

    def on_mapping(self, mapping: Mapping) -> Mapping:
        old = _reading(mapping, self.channel)
        new = replace(old, scale=self.factor * old.scale, offset=self.factor * old.offset + self.offset)
        return replace(mapping, channels={**mapping.channels, self.channel: new})


@dataclass(frozen=True)
class Shift(Undo):
    """The clock of a measurement, or of all commands, is moved."""

    channel: str
    seconds: float

    def on_log(self, log: Log) -> Log:
        if self.channel == COMMANDS:
            return replace(log, command_time=log.command_time + self.seconds)
        moved = log.measurement_time[self.channel] + self.seconds
        return replace(log, measurement_time={**log.measurement_time, self.channel: moved})

    def on_mapping(self, mapping: Mapping) -> Mapping:
        if self.channel == COMMANDS:
            return replace(mapping, command_shift_s=mapping.command_shift_s + self.seconds)
        old = _reading(mapping, self.channel)
        new = replace(old, shift_s=old.shift_s + self.seconds)
        return replace(mapping, channels={**mapping.channels, self.channel: new})


@dataclass(frozen=True)
class Slow(Undo):
    """One command acts later than the others. Nothing to put right: a motor may be so."""

    channel: str
    seconds: float

    def on_log(self, log: Log) -> Log:
        late = _held(log.commands[self.channel], log.command_time, log.command_time - self.seconds)
        return replace(log, commands={**log.commands, self.channel: late})

    def on_mapping(self, mapping: Mapping) -> Mapping:
        return mapping


@dataclass(frozen=True)
class Reorder(Undo):
    """Number k of a wide channel is what was logged as number order[k]."""

    channel: str
    order: tuple[int, ...]

    def on_log(self, log: Log) -> Log:
        turned = log.measurements[self.channel][:, list(self.order)]
        return replace(log, measurements={**log.measurements, self.channel: turned})

    def on_mapping(self, mapping: Mapping) -> Mapping:
        old = _reading(mapping, self.channel)
        whole = old.columns[0]
        single = old.columns if len(old.columns) > 1 else tuple(f"{whole}[{k}]" for k in range(len(self.order)))
        new = replace(old, columns=tuple(single[k] for k in self.order))
        return replace(mapping, channels={**mapping.channels, self.channel: new})


@dataclass(frozen=True)
class Both(Undo):
    """One change and then another."""

    first: Undo
    second: Undo

    def on_log(self, log: Log) -> Log:
        return self.second.on_log(self.first.on_log(log))

    def on_mapping(self, mapping: Mapping) -> Mapping:
        return self.second.on_mapping(self.first.on_mapping(mapping))


@dataclass(frozen=True)
class Nothing(Undo):
    """The logs are right as they are, or no mapping can put them right."""

    def on_log(self, log: Log) -> Log:
        return log

    def on_mapping(self, mapping: Mapping) -> Mapping:
        return mapping


def _exchanged(named: dict[str, np.ndarray], a: str, b: str) -> dict[str, np.ndarray]:
    return {**named, a: named[b], b: named[a]}


def _crossed(log: Log, command: str, measurement: str) -> Log:
    """A command and a measurement exchanged: each is put on the other's clock, held from sample to sample."""
    sent, taken = log.command_time, log.measurement_time[measurement]
    measured = _held(log.commands[command], sent, taken)
    commanded = _held(log.measurements[measurement], taken, sent)
    return replace(
        log,
        commands={**log.commands, command: commanded},
        measurements={**log.measurements, measurement: measured},
    )


def _held(values: np.ndarray, clock: np.ndarray, at: np.ndarray) -> np.ndarray:
    return values[np.maximum(np.searchsorted(clock, at + 1e-9, side="right") - 1, 0)]


def _read_as(mine: Reading, other: Reading) -> Reading:
    """Another channel's columns, with the units that belong to them, on this channel's own clock."""
    return replace(mine, columns=other.columns, unit=other.unit, scale=other.scale, offset=other.offset)


def _reading(mapping: Mapping, channel: str) -> Reading:
    if channel not in mapping.channels:
        known = ", ".join(mapping.channels)
        raise GaplessError(f"the mapping has no channel {channel!r} (it has: {known}). Fix the mapping of these logs.")
    return mapping.channels[channel]
