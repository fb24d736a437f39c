"""Which column of somebody else's file is which channel, in which unit and on which clock: a small TOML file."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from gapless.core import Channel, GaplessError, Interface
from gapless.core.reading import plain_table

from .guard import one_sentence, read_text

TO_SI = {
    "deg": ("rad", math.pi / 180),
    "turn": ("rad", 2 * math.pi),
    "deg/s": ("rad/s", math.pi / 180),
    "rpm": ("rad/s", 2 * math.pi / 60),
    "mm": ("m", 1e-3),
    "cm": ("m", 1e-2),
    "mm/s": ("m/s", 1e-3),
    "cm/s": ("m/s", 1e-2),
    "g": ("kg", 1e-3),
    "mA": ("A", 1e-3),
    "mV": ("V", 1e-3),
    "mN m": ("N m", 1e-3),
}
"""A file's unit → the SI unit and what to multiply with."""
TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class Reading:
    """How one channel is read: SI value = scale · (value in SI after `unit`) + offset."""

    columns: tuple[str, ...]
    """One column per number, or one column as wide as the channel; "state[2]" is the third number of "state"."""
    unit: str = ""
    """The file's unit; empty: already the channel's; "driver": the interface's own scale and offset apply."""
    scale: float = 1.0
    offset: float = 0.0
    time: str = ""
    """Clock of this measurement alone; empty: the mapping's."""
    shift_s: float = 0.0
    """Added to the clock of this measurement, for one that runs late or early."""

    def __post_init__(self) -> None:
        finite = all(map(math.isfinite, (self.scale, self.offset, self.shift_s)))
        if not self.columns or not (finite and self.scale):
            raise GaplessError(
                f"a mapping reads {self.columns!r} with scale {self.scale}, offset {self.offset} and shift_s {self.shift_s}; "
                "it needs a column, a finite scale that is not 0, a finite offset and a finite shift."
            )


@dataclass(frozen=True)
class Mapping:
    """How the files of one kind become logs of one interface."""

    channels: dict[str, Reading] = field(default_factory=dict)
    time: str = ""
    """Clock of everything without one of its own; empty: rows are one control period apart."""
    command_time: str = ""
    """Clock of the commands; empty: `time`."""
    time_unit: str = "s"
    """Unit of all clocks, one of TIME_UNITS."""
    episode: str = ""
    """Column that tells the episodes of a table apart; empty: a file is one episode."""
    only: str = "*"
    """Episodes taken, by name; * and ? stand for anything."""
    skip_rows: int = 0
    """Rows left out at the start of every episode."""
    command_shift_s: float = 0.0
    """Added to the clock of the commands, for one that runs late or early."""

    def __post_init__(self) -> None:
        if self.time_unit not in TIME_UNITS or self.skip_rows < 0 or not math.isfinite(self.command_shift_s):
            raise GaplessError(
                f"a mapping has time_unit {self.time_unit!r}, skip_rows {self.skip_rows} and command_shift_s "
                f"{self.command_shift_s}; the unit must be one of {', '.join(TIME_UNITS)}, rows cannot be negative, and "
                "the shift must be finite."
            )


def conversion(reading: Reading, channel: Channel) -> tuple[float, float]:
    """Scale and offset that turn the file's values into the channel's unit."""
    if reading.unit == "driver":
        return reading.scale * channel.scale, reading.scale * channel.offset + reading.offset
    if reading.unit in ("", channel.unit):
        return reading.scale, reading.offset
    unit, factor = TO_SI.get(reading.unit, ("", 0.0))
    if unit != channel.unit:
        known = [name for name, (si, _) in TO_SI.items() if si == channel.unit]
        raise GaplessError(
            f"the mapping reads {channel.name!r} in {reading.unit!r}; the channel is in {channel.unit or '1'!r}. "
            f"Use one of: {', '.join([channel.unit, *known, 'driver'])}; or give a scale and an offset."
        )
    return reading.scale * factor, reading.offset


def require_fits(mapping: Mapping, interface: Interface) -> None:
    """Raise unless every channel of the interface is mapped, once, and nothing else is."""
    names = (*interface.command_names, *interface.measurement_names)
    _require_none([n for n in names if n not in mapping.channels], "leaves out", "Add a table for each.")
    _require_none([n for n in mapping.channels if n not in names], "names unknown", f"Known are: {', '.join(names)}.")
    columns = [c for reading in mapping.channels.values() for c in reading.columns]
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise GaplessError(f"the mapping reads {', '.join(twice)} more than once; each column belongs to one channel.")
    clocked = [c.name for c in interface.commands if mapping.channels[c.name].time]
    _require_none(clocked, "gives a clock of its own to", "Commands share one: set command_time.")
    shifted = [c.name for c in interface.commands if mapping.channels[c.name].shift_s]
    _require_none(shifted, "shifts the clock of", "Commands share one: set command_shift_s.")
    for channel in interface.commands + interface.measurements:
        conversion(mapping.channels[channel.name], channel)


def _require_none(found: list[str], verb: str, rule: str) -> None:
    if found:
        raise GaplessError(f"the mapping {verb} channel{'s' if len(found) > 1 else ''} {', '.join(found)}. {rule}")


def read_mapping(path: Path) -> Mapping:
    """The mapping in a TOML file."""
    text = read_text(Path(path), "TOML")
    with one_sentence(Path(path), "TOML"):
        plain = plain_table(text)
    return mapping_from_dict(plain, str(path))


def mapping_from_dict(plain: dict[str, Any], where: str = "the mapping") -> Mapping:
    """The mapping that `mapping_to_toml` spelled, or an error that names the odd key."""
    channels = plain.get("channels", {})
    if not isinstance(channels, dict) or not all(isinstance(c, dict) for c in channels.values()):
        raise GaplessError(f'{where} must hold its channels as tables, [channels."pole.angle"]; see docs/logs.md.')
    readings = {name: Reading(**_checked(Reading, c, f"{where}, channel {name!r},")) for name, c in channels.items()}
    rest = {key: value for key, value in plain.items() if key != "channels"}
    return Mapping(channels=readings, **_checked(Mapping, rest, where))


def _checked(kind: type, plain: dict[str, Any], where: str) -> dict[str, Any]:
    types = {f.name: f.type for f in fields(kind) if f.name != "channels"}
    accepted = {str: _word, float: _number, int: _count}
    checked = {}
    for key, value in plain.items():
        if key not in types:
            raise GaplessError(f"{where} has the key {key!r}; known are: {', '.join(types)}.")
        read: Callable[[Any], Any] = accepted.get(types[key], _words)
        checked[key] = read(value)
        if checked[key] is None:
            raise GaplessError(f"{where} has {key} = {value!r}, which is of the wrong kind; see docs/logs.md.")
    if kind is Reading and "columns" not in checked:
        raise GaplessError(f"{where} has no columns. Name the column it is read from.")
    return checked


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _words(value: Any) -> tuple[str, ...] | None:
    listed = [value] if isinstance(value, str) else value
    return tuple(listed) if isinstance(listed, list) and all(isinstance(v, str) for v in listed) else None


def mapping_to_toml(mapping: Mapping) -> str:
    """The mapping as TOML; what has its default is left out."""
    lines = _lines(mapping, Mapping())
    for name, reading in mapping.channels.items():
        lines += ["", f"[channels.{_quoted(name)}]", *_lines(reading, Reading(("",)))]
    return "\n".join(lines).lstrip("\n") + "\n"


def _lines(value: Mapping | Reading, default: Mapping | Reading) -> list[str]:
    named = {f.name: getattr(value, f.name) for f in fields(value) if f.name != "channels"}
    return [f"{name} = {_spelled(v)}" for name, v in named.items() if v != getattr(default, name)]


def _spelled(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_quoted(v) for v in value)}]"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(word: str) -> str:
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")
