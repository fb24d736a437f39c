"""What could be wrong with the conventions of a log in one stroke: channels exchanged, signs, units."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from gapless.core import Channel, Interface, Simulator
from gapless.core.names import thing_and_quantity

from .undoing import Both, Exchange, Rescale, Undo
from .units import factors

LIKELY = 20.0
"""In the right unit a channel moves at most so many times more or less than the model would have it."""
SILENT = 0.0025
"""In the right unit commands use at least this share of their range: with less a motor might as well be off."""
DEGREES = ("degrees", "rad converted twice from degrees")


@dataclass(frozen=True)
class Hypothesis:
    """A wrong convention and how to undo it."""

    kind: str
    channels: tuple[str, ...]
    looks: str
    """What the channels look like, e.g. "look swapped"."""
    doing: str
    """What undoes it, e.g. "exchanging them"."""
    advice: str
    undo: Undo
    least: float = 1.6
    """How many fold the prediction error must fall at least."""
    simulator: Simulator | None = None
    """Where it is the model that must change."""
    rival: Undo | None = None
    """A gap that looks alike: the convention is blamed only if it explains the logs clearly better than this."""
    number: str | None = None
    """The fitted number that says so, where it is a matter of degree."""


def all_at_once(interface: Interface, driven: dict[str, float]) -> Iterator[Hypothesis]:
    """Everything that is either so or not.

    `driven` says how much channels move relative to the model, and commands relative to their range: a unit that would not
    bring them nearer, or would silence a motor, is left out.
    """
    yield from _exchanges(interface)
    for channel in interface.commands + interface.measurements:
        yield Hypothesis(
            "sign", (channel.name,), f"{channel.name} looks negated", "flipping its sign",
            f"Give {channel.name} the opposite scale in the mapping.", Rescale(channel.name, -1.0),
        )  # fmt: skip
        yield from _units(
            channel, driven.get(channel.name), 1 / LIKELY if channel in interface.measurements else SILENT
        )


def _exchanges(interface: Interface) -> Iterator[Hypothesis]:
    for group in (interface.commands, interface.measurements):
        for a, b in combinations(group, 2):
            if a.width == b.width:
                yield _exchange("order", a.name, b.name)
    for command in interface.commands:
        for measurement in interface.measurements:
            if command.width == measurement.width:
                yield _exchange("crossed", command.name, measurement.name)
    yield from _joints(interface)


def _exchange(kind: str, a: str, b: str) -> Hypothesis:
    return Hypothesis(
        kind, (a, b), f"{a} and {b} look swapped", "exchanging them", f"Exchange the columns of {a} and {b} in the mapping.",
        Exchange(a, b),
    )  # fmt: skip


def _joints(interface: Interface) -> Iterator[Hypothesis]:
    """Two joints exchanged altogether: what is sent to them and what is read from them."""
    things = {c.name: thing_and_quantity(c.name)[0] for c in interface.commands + interface.measurements}
    for a, b in combinations(interface.commands, 2):
        for c, d in combinations(interface.measurements, 2):
            if a.width == b.width and c.width == d.width and (things[a.name], things[b.name]) == (
                things[c.name], things[d.name],
            ):  # fmt: skip
                yield Hypothesis(
                    "order", (a.name, b.name, c.name, d.name), f"the joints {things[a.name]} and {things[b.name]} look swapped",
                    "exchanging what is sent to them and read from them", "Exchange their columns in the mapping.",
                    Both(Exchange(a.name, b.name), Exchange(c.name, d.name)),
                )  # fmt: skip


def _units(channel: Channel, driven: float | None, least: float) -> Iterator[Hypothesis]:
    for name, factor in factors(channel.unit).items():
        if driven is None or least < driven / factor < LIKELY:
            yield unit_hypothesis(channel, name, factor)


def unit_hypothesis(channel: Channel, name: str, factor: float) -> Hypothesis:
    """A channel that is logged in another unit."""
    return Hypothesis(
        "degrees" if name in DEGREES else "unit", (channel.name,), f"{channel.name} looks like {name}, not {channel.unit or '1'}",
        f"multiplying it by {1 / factor:.4g}", f"Set scale = {1 / factor:.6g} for {channel.name} in the mapping, or its unit.",
        Rescale(channel.name, 1 / factor),
    )  # fmt: skip
