"""A first guess of the mapping, from names that mean the same: capitals, dots and underscores do not count."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from gapless.core import Channel, Interface
from gapless.core.names import is_commanded, plain, thing_and_quantity

from .files import column_widths, read_episodes
from .mapping import TIME_UNITS, Mapping, Reading

CLOCKS = ("time", "timestamp", "t", "times", "stamp", "seconds")
COMMAND_CLOCKS = ("commandtime", "actiontime", "commandtimestamp")
EPISODES = ("episode", "episodeindex", "episodeid", "run", "trial")
ALL_COMMANDS = ("action", "command", "commands", "control", "u")
ALL_MEASUREMENTS = ("observationstate", "state", "measurement", "measurements", "observation", "x")


def propose_mapping(path: Path, interface: Interface) -> Mapping:
    """What can be guessed from the names of a recording's columns; channels without a like are left for the user."""
    path = Path(path)
    widths = column_widths(path)
    time, unit = _clock(widths, CLOCKS)
    readings = _readings(interface.commands, widths, ALL_COMMANDS, commanded=True)
    sent = [reading for reading in readings.values() if reading]
    command_time = _first(widths, COMMAND_CLOCKS) or (_own_clock(sent[0].columns[0], widths) if sent else "")
    readings |= _readings(interface.measurements, widths, ALL_MEASUREMENTS, commanded=False)
    channels = {name: reading for name, reading in readings.items() if reading}
    for name in set(interface.measurement_names) & set(channels):
        columns = channels[name].columns
        own = _first(widths, [f"{plain(name)}time"]) or _own_clock(columns[0], widths)
        channels[name] = Reading(columns, time=own)
    if path.is_dir() and command_time.endswith(".timestamp"):
        unit = _likely_unit(path, command_time, interface.period_s)
    episode = "" if path.suffix.lower() == ".npz" else _first(widths, EPISODES)
    return Mapping(channels, time, command_time, unit, episode)


def _readings(
    channels: Sequence[Channel], widths: dict[str, int], together: Sequence[str], commanded: bool
) -> dict[str, Reading | None]:
    """Each channel by its own name, or all of them side by side in one wide column such as LeRobot's `action`."""
    found = {c.name: _columns(c, widths) or _alike(c, widths, commanded) for c in channels}
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
        whole = [name for name in widths if plain(name) == plain(word) and widths[name] == channel.width]
        if len(whole) == 1:
            return (whole[0],)
        for first in (0, 1):
            numbered = [_first(widths, [f"{plain(word)}{first + i}"]) for i in range(channel.width)]
            if channel.width > 1 and all(numbered):
                return tuple(numbered)
    return ()


def _alike(channel: Channel, widths: dict[str, int], commanded: bool) -> tuple[str, ...]:
    """The one column that means the channel, such as `action[hip.pos]` for the command `hip`."""
    thing, quantity = thing_and_quantity(channel.name)
    fitting = [n for n in widths if widths[n] == channel.width and is_commanded(n) == commanded]
    same = [(name, found[1]) for name in fitting if (found := thing_and_quantity(name))[0] == thing]
    for wanted in dict.fromkeys((quantity, "") if quantity else ("", "position")):
        named = [name for name, measured in same if measured == wanted]
        if named:
            return (named[0],) if len(named) == 1 else ()
    return ()


def _clock(widths: dict[str, int], words: Iterable[str]) -> tuple[str, str]:
    """The first column that is named like a clock, and its unit if the name ends in one."""
    for unit in TIME_UNITS:
        for word in words:
            if found := _first(widths, [word, f"{word}s"] if unit == "s" else [f"{word}{unit}"]):
                return found, unit
    return "", "s"


def _own_clock(column: str, widths: dict[str, int]) -> str:
    """The clock that stands beside a column: `/joint_states.time` for `/joint_states.position[hip]`."""
    words = column.partition("[")[0].split(".")
    beside = [".".join([*words[:k], clock]) for k in range(len(words), 0, -1) for clock in CLOCKS]
    return next((name for name in beside if name in widths and name != column), "")


def _likely_unit(path: Path, clock: str, period_s: float) -> str:
    """Seconds if the clock's steps are short, else the unit in which they come nearest to the control period.

    SAGE counts seconds in simulation and microseconds on robots, both in a column `timestamp`.
    """
    columns = next(iter(read_episodes(path, [clock]).values()), {})
    steps = np.abs(np.diff(columns[clock].values[:, 0])) if clock in columns else np.empty(0)
    step = float(np.median(steps[steps > 0])) if np.any(steps > 0) else 0.0
    if not 1 <= step < np.inf:
        return "s"
    return min(("ms", "us", "ns"), key=lambda unit: abs(np.log(step * TIME_UNITS[unit] / period_s)))


def _first(widths: dict[str, int], words: Sequence[str]) -> str:
    """The column whose name is the earliest of the words; empty if there is none."""
    found = {plain(name): name for name in reversed(list(widths))}
    return next((found[word] for word in words if word in found), "")
