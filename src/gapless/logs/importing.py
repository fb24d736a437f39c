"""Somebody else's files become logs: columns become channels in SI units on their own clocks, or nothing does."""

import fnmatch
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from gapless.core import Channel, GaplessError, Interface, Log

from .checks import require_sound
from .columns import Column
from .files import read_episodes
from .mapping import TIME_UNITS, Mapping, Reading, conversion, require_fits

PLACE = re.compile(r"(.+)\[(\d{1,6})\]")
"""How a mapping names one number of a wide column."""

Part = tuple[Float[np.ndarray, " time"], Float[np.ndarray, "time width"]]
"""A clock and what was sampled on it."""


def import_logs(paths: Iterable[Path], mapping: Mapping, interface: Interface) -> list[Log]:
    """All episodes of all files, checked. `check_log` tells what is odd about a log without being wrong."""
    require_fits(mapping, interface)
    logs = [log for path in paths for log in _file_logs(Path(path), mapping, interface)]
    if not logs:
        raise GaplessError(f"no episode was found that matches only = {mapping.only!r}. Check the paths and `only`.")
    for log in logs:
        require_sound(log)
    return logs


def _file_logs(path: Path, mapping: Mapping, interface: Interface) -> list[Log]:
    named = [c for reading in mapping.channels.values() for c in (*reading.columns, reading.time)]
    named += [mapping.time, mapping.command_time]
    wanted = {n for name in named if name for n in (name, _base(name))}
    episodes = read_episodes(path, wanted, mapping.episode)
    chosen = [name for name in episodes if fnmatch.fnmatchcase(name, mapping.only)]
    return [_Episode(path, name, episodes[name], mapping, interface).log() for name in chosen]


def _base(name: str) -> str:
    place = PLACE.fullmatch(name)
    return place[1] if place else name


class _Episode:
    """The columns of one episode and how to read them."""

    def __init__(
        self, path: Path, name: str, columns: dict[str, Column], mapping: Mapping, interface: Interface
    ) -> None:
        self.name = f"episode {name!r} of {path}"
        self.source = {"file": path.name, "episode": name}
        self.columns = {n: column[mapping.skip_rows :] for n, column in columns.items()}
        self.mapping, self.interface = mapping, interface

    def log(self) -> Log:
        """The log, with its clocks counted from its first sample."""
        command_time, commands = self._commands()
        command_time = command_time + self.mapping.command_shift_s
        parts = {c.name: self._measurement(c) for c in self.interface.measurements}
        clocks = [command_time, *(clock for clock, _ in parts.values())]
        start = min((float(clock[0]) for clock in clocks if len(clock) and np.isfinite(clock[0])), default=0.0)
        with np.errstate(over="ignore"):  # a time beyond float64 is infinite, and the checks name it
            sent, taken = command_time - start, {name: clock - start for name, (clock, _) in parts.items()}
        measured = {name: values for name, (_, values) in parts.items()}
        return Log(self.interface, commands, measured, sent, taken, self.source)

    def _commands(self) -> tuple[Float[np.ndarray, " time"], dict[str, np.ndarray]]:
        channels = self.interface.commands
        if not channels:  # a machine without a motor still has rows
            longest = max((len(c.values) for c in self.columns.values()), default=0)
            return self._clock(self.mapping.command_time, longest), {}
        clock, values = self._part(channels, self.mapping.command_time)
        edges = np.cumsum([c.width for c in channels])[:-1]
        return clock, {c.name: v for c, v in zip(channels, np.split(values, edges, axis=1), strict=True)}

    def _measurement(self, channel: Channel) -> Part:
        reading = self.mapping.channels[channel.name]
        clock, values = self._part([channel], reading.time)
        return clock + reading.shift_s, values

    def _part(self, channels: Sequence[Channel], time: str) -> Part:
        """Channels that share a clock, side by side. A row in which none of them has a value is no sample of theirs."""
        read = [self._channel(c, self.mapping.channels[c.name]) for c in channels]
        names = ", ".join(c.name for c in channels)
        if len({len(column.values) for column in read}) != 1:
            raise GaplessError(f"{self.name} has columns of different lengths for {names}; they share one clock.")
        present = np.stack([column.present for column in read])
        if np.any(present.any(0) != present.all(0)):
            row = int(np.flatnonzero(present.any(0) != present.all(0))[0])
            raise GaplessError(f"{self.name} has only a part of {names} in row {row}; sent together, all are needed.")
        values, kept = np.concatenate([column.values for column in read], axis=1), present.all(0)
        return self._clock(time, len(values))[kept], values[kept]

    def _channel(self, channel: Channel, reading: Reading) -> Column:
        parts = [self._column(name, channel.name) for name in reading.columns]
        if len({len(p.values) for p in parts}) != 1 or sum(p.values.shape[1] for p in parts) != channel.width:
            found = ", ".join(f"{n} {p.values.shape}" for n, p in zip(reading.columns, parts, strict=True))
            raise GaplessError(
                f"{self.name} gives {channel.name!r} the columns {found}; its width is {channel.width}. "
                "List as many columns of one length, or name places such as state[0]."
            )
        scale, offset = conversion(reading, channel)
        values = np.concatenate([p.values for p in parts], axis=1)
        present = np.stack([p.present for p in parts])
        if (scale, offset) != (1.0, 0.0):
            with np.errstate(all="ignore"):  # what overflows is infinite, and the checks name it
                values = scale * values + offset
        # A row with a part of the channel stays: its NaN is named by the checks.
        return Column(values, np.asarray(present.any(0)))

    def _column(self, name: str, user: str) -> Column:
        place = PLACE.fullmatch(name)
        if name in self.columns:
            return self.columns[name]
        column = self.columns.get(_base(name))
        if column is None or place is None:
            raise GaplessError(f"{self.name} has no column {name!r} for {user!r}. Correct its name in the mapping.")
        which = int(place[2])
        if which >= column.values.shape[1]:
            raise GaplessError(f"{self.name} has {column.values.shape[1]} numbers in {place[1]!r}; {name!r} is beyond.")
        return Column(column.values[:, which : which + 1], column.present)

    def _clock(self, own: str, rows: int) -> Float[np.ndarray, " time"]:
        """Seconds for each of so many rows."""
        name = own or self.mapping.time
        if not name:
            return np.arange(rows) * self.interface.period_s
        column = self._column(name, "a clock")
        # One more time than samples: recordings often end with a state after which nothing was sent.
        times = column.values[:-1] if len(column.values) == rows + 1 else column.values
        if times.shape != (rows, 1):
            raise GaplessError(
                f"{self.name} has a clock {name!r} of shape {column.values.shape} for {rows} samples; "
                "it needs one time per sample. Name another clock in the mapping."
            )
        return times[:, 0] * TIME_UNITS[self.mapping.time_unit]
