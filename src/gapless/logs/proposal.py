"""A first guess of the mapping, from equal names: capitals, dots and underscores do not count."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from gapless.core import Channel, Interface

from .files import column_widths
from .mapping import TIME_UNITS, Mapping, Reading

CLOCKS = ("time", "timestamp", "t", "times", "stamp", "seconds")
COMMAND_CLOCKS = ("commandtime", "actiontime", "commandtimestamp")
EPISODES = ("episode", "episodeindex", "episodeid", "run", "trial")
ALL_COMMANDS = ("action", "command", "commands", "control", "u")
ALL_MEASUREMENTS = ("observationstate", "state", "measurement", "measurements", "observation", "x")


def propose_mapping(path: Path, interface: Interface) -> Mapping:
    """What can be guessed from the names of a file's columns; channels without a like are left for the user to add."""
    path = Path(path)
    widths = column_widths(path)
    time, unit = _clock(widths, CLOCKS)
    readings = _readings(interface.commands, widths, ALL_COMMANDS)
    readings |= _readings(interface.measurements, widths, ALL_MEASUREMENTS)
    channels = {name: reading for name, reading in readings.items() if reading}
    for channel in interface.measurements:
        own = _first(widths, [f"{_plain(channel.name)}time"])
        if own and channel.name in channels:
            channels[channel.name] = Reading(channels[channel.name].columns, time=own)
    episode = "" if path.suffix.lower() == ".npz" else _first(widths, EPISODES)
    return Mapping(channels, time, _first(widths, COMMAND_CLOCKS), unit, episode)


def _readings(
    channels: Sequence[Channel], widths: dict[str, int], together: Sequence[str]
) -> dict[str, Reading | None]:
    """Each channel by its own name, or all of them side by side in one wide column such as LeRobot's `action`."""
    found = {c.name: _columns(c, widths) for c in channels}
    wide = _first(widths, together)
    if wide and not any(found.values()) and widths[wide] == sum(c.width for c in channels):
        return _places(channels, wide, widths[wide])
    return {name: Reading(columns) if columns else None for name, columns in found.items()}


def _places(channels: Sequence[Channel], wide: str, width: int) -> dict[str, Reading | None]:
    if width == 1 or len(channels) == 1:
        return {channels[0].name: Reading((wide,))}
    starts = [sum(c.width for c in channels[:i]) for i in range(len(channels))]
    return {
        c.name: Reading(tuple(f"{wide}[{start + i}]" for i in range(c.width)))
        for c, start in zip(channels, starts, strict=True)
    }


def _columns(channel: Channel, widths: dict[str, int]) -> tuple[str, ...]:
    """Columns of the channel's name, whole or numbered from 0 or 1; its last word counts if nothing else matches."""
    for word in (channel.name, channel.name.rpartition(".")[2]):
        whole = [name for name in widths if _plain(name) == _plain(word) and widths[name] == channel.width]
        if len(whole) == 1:
            return (whole[0],)
        for first in (0, 1):
            numbered = [_first(widths, [f"{_plain(word)}{first + i}"]) for i in range(channel.width)]
            if channel.width > 1 and all(numbered):
                return tuple(numbered)
    return ()


def _clock(widths: dict[str, int], words: Iterable[str]) -> tuple[str, str]:
    """The first column that is named like a clock, and its unit if the name ends in one."""
    for unit in TIME_UNITS:
        for word in words:
            if found := _first(widths, [word, f"{word}s"] if unit == "s" else [f"{word}{unit}"]):
                return found, unit
    return "", "s"


def _first(widths: dict[str, int], words: Sequence[str]) -> str:
    """The column whose name is the earliest of the words; empty if there is none."""
    plain = {_plain(name): name for name in reversed(list(widths))}
    return next((plain[word] for word in words if word in plain), "")


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
