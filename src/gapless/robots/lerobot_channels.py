"""From what a LeRobot robot sends and reads to channels in SI units, with a file that may say otherwise.

LeRobot speaks degrees, or per cent of a motor's calibrated range; radians follow from the counts of that range.
"""

import dataclasses
import json
import math
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gapless.core import Channel, GaplessError, Interface
from gapless.core.names import thing_and_quantity

FPS = 50.0
"""Commands a second unless said otherwise."""
RATE_RAD_S = math.pi
"""Largest speed of a position command unless a file says otherwise: half a turn a second."""
SUFFIXES = {"pos": "position", "vel": "velocity", "q": "position"}
OWN = ("name", "width")
"""What a file may not change about a channel."""


@dataclass(frozen=True)
class Description:
    """What a LeRobot robot says about itself."""

    name: str
    actions: list[str]
    observations: list[str]
    cameras: list[str]
    motors: dict[str, dict[str, Any]]
    calibration: str


@dataclass(frozen=True)
class Given:
    """What a user's file says: channels by LeRobot's key, a period, and where episodes start."""

    commands: dict[str, dict[str, Any]] = field(default_factory=dict)
    measurements: dict[str, dict[str, Any]] = field(default_factory=dict)
    period_s: float | None = None
    home: dict[str, float] = field(default_factory=dict)
    """Command channel → where it is brought before an episode, in SI units."""
    home_s: float = 3.0
    """Seconds that bringing it there takes."""
    robot: str = ""
    joints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Channels:
    """The interface, and which of LeRobot's keys each channel is."""

    interface: Interface
    action_keys: dict[str, str]
    observation_keys: dict[str, str]


def channels_of(described: Description, given: Given, fps: float | None = None) -> Channels:
    """Every number that can be sent as a command, every number that can be read as a measurement."""
    if fps and given.period_s and not math.isclose(fps * given.period_s, 1, rel_tol=1e-6):
        raise GaplessError(
            f"fps={fps:g} is asked for; the interface's file says {1 / given.period_s:g}. Drop one of them."
        )
    commands = {k: _command(k, described, given.commands.get(k, {})) for k in described.actions}
    measured = {k: _measurement(k, described, given.measurements.get(k, {})) for k in described.observations}
    for kind, keys, known in (("commands", given.commands, commands), ("measurements", given.measurements, measured)):
        unknown = sorted(set(keys) - set(known))
        if unknown:
            raise GaplessError(f"{described.name} has no {unknown[0]!r} among its {kind} (it has: {', '.join(known)}).")
    order = [k for k in given.commands if k in commands] + [k for k in commands if k not in given.commands]
    seen = [k for k in given.measurements if k in measured] or list(measured)
    interface = Interface(
        given.robot or described.name,
        given.period_s or 1 / (fps or FPS),
        tuple(commands[k] for k in order),
        tuple(measured[k] for k in seen),
        given.joints,
    )
    unknown = sorted(set(given.home) - set(interface.command_names))
    if unknown:
        raise GaplessError(f"home names {unknown[0]!r}; commands are: {', '.join(interface.command_names)}.")
    return Channels(interface, {commands[k].name: k for k in order}, {measured[k].name: k for k in seen})


def read_given(path: Path, described: Description) -> Given:
    """A TOML file with tables by channel, or a workspace's interface.json."""
    try:
        text = path.read_text(encoding="utf-8")
        plain = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise GaplessError(
            f"{path} cannot be read as an interface ({error}). Check the path and its contents."
        ) from None
    return _from_interface(plain, described) if path.suffix == ".json" else _from_tables(plain, path)


def _from_interface(plain: dict[str, Any], described: Description) -> Given:
    """The channels of a workspace, each with the one key that means the same."""
    interface = Interface.from_dict(plain)

    def keyed(channels: tuple[Channel, ...], keys: list[str]) -> dict[str, dict[str, Any]]:
        return {_key_of(c, keys, described.name): _changes(c) for c in channels}

    return Given(
        keyed(interface.commands, described.actions),
        keyed(interface.measurements, described.observations),
        interface.period_s,
        robot=interface.robot,
        joints=interface.joints,
    )


def _key_of(channel: Channel, keys: list[str], robot: str) -> str:
    thing, quantity = thing_and_quantity(channel.name)
    same = [
        k
        for k in keys
        if thing_and_quantity(k)[0] == thing and thing_and_quantity(k)[1] in (quantity or "position", "")
    ]
    if len(same) != 1 or channel.width != 1:
        raise GaplessError(
            f"{robot} has no key that means the channel {channel.name!r} of width {channel.width} "
            f"(it has: {', '.join(keys)}). Write a TOML file with `key = …`; see docs/lerobot.md."
        )
    return same[0]


def _changes(channel: Channel) -> dict[str, Any]:
    """What a workspace's channel says that is no mere default."""
    said = dataclasses.asdict(channel)
    plain = {f.name: f.default for f in dataclasses.fields(Channel)}
    return {k: v for k, v in said.items() if k == "name" or (k != "width" and v != plain[k])}


def _from_tables(plain: dict[str, Any], path: Path) -> Given:
    known = {"commands", "measurements", "fps", "home", "home_s"}
    for name in plain.keys() - known:
        raise GaplessError(f"{path} has the key {name!r}; known are: {', '.join(sorted(known))}.")
    tables = {kind: _table(plain.get(kind, {}), f"{path}, {kind}") for kind in ("commands", "measurements")}
    home = plain.get("home", {})
    numbers = [plain.get("fps", 1.0), plain.get("home_s", 1.0), *(home.values() if isinstance(home, dict) else [None])]
    if not all(isinstance(n, int | float) and math.isfinite(n) for n in numbers) or min(numbers[:2]) <= 0:
        raise GaplessError(f"{path} needs fps and home_s as positive numbers and [home] as a table of numbers.")
    period_s = 1 / plain["fps"] if "fps" in plain else None
    return Given(
        tables["commands"], tables["measurements"], period_s, home=home, home_s=float(plain.get("home_s", 3.0))
    )


def _table(channels: Any, where: str) -> dict[str, dict[str, Any]]:
    """LeRobot's key → the channel's name and what the file changes about it."""
    fields = [f.name for f in dataclasses.fields(Channel) if f.name not in OWN]
    found = {}
    for name, said in channels.items() if isinstance(channels, dict) else [("", None)]:
        if not isinstance(said, dict) or not isinstance(said.get("key"), str) or said.keys() - {"key", *fields}:
            raise GaplessError(f"{where}, {name!r}: a channel is a table with `key` and any of {', '.join(fields)}.")
        found[said["key"]] = {"name": name, **{k: v for k, v in said.items() if k != "key"}}
    return found


def _command(key: str, described: Description, said: dict[str, Any]) -> Channel:
    thing, _, suffix = key.rpartition(".")
    name = thing if SUFFIXES.get(suffix) == "position" and thing else f"{key}.target"
    unit = _unit(key, described, said)
    if {**unit, **said}.get("unit") == "rad":
        unit["rate"] = RATE_RAD_S
    return _channel(name, unit, said)


def _measurement(key: str, described: Description, said: dict[str, Any]) -> Channel:
    thing, _, suffix = key.rpartition(".")
    unit = _unit(key, described, said)
    # An arm may be pushed a little beyond the range it was calibrated in; that is no reason to stop.
    unit = {k: v for k, v in unit.items() if k not in ("low", "high")}
    return _channel(f"{thing}.{SUFFIXES[suffix]}" if thing and suffix in SUFFIXES else key, unit, said)


def _channel(name: str, unit: dict[str, Any], said: dict[str, Any]) -> Channel:
    try:
        return Channel(**{"name": name, **unit, **said})
    except TypeError as error:
        raise GaplessError(f"channel {said.get('name', name)!r} is not usable: {error}. See docs/lerobot.md.") from None


def _unit(key: str, described: Description, said: dict[str, Any]) -> dict[str, Any]:
    """Unit, scale, offset and limits of a motor's position in rad; nothing of what is no motor's position."""
    motor = described.motors.get(key)
    if motor is None or "scale" in said:
        return {}
    span = _span_rad(motor)
    if motor["mode"] == "degrees":
        limits = {} if span is None else {"low": -span / 2, "high": span / 2}
        return {"unit": "rad", "scale": math.pi / 180, **limits}
    if span is None:
        raise GaplessError(
            f"{described.name} gives {key!r} in per cent of a calibrated range, and {described.calibration} does not hold "
            "that range. Calibrate with `lerobot-calibrate`, or give unit and scale in ?interface=FILE; see docs/lerobot.md."
        )
    if motor["mode"] == "range_0_100":
        return {"unit": "rad", "scale": span / 100, "low": 0.0, "high": span}
    return {"unit": "rad", "scale": span / 200, "low": -span / 2, "high": span / 2}


def _span_rad(motor: dict[str, Any]) -> float | None:
    """The calibrated range as an angle. LeRobot's degrees count a turn as one count less than the motor's 4096."""
    if not motor["range"] or not motor["counts"]:
        return None
    low, high = motor["range"]
    return (high - low) * 2 * math.pi / (motor["counts"] - 1)
