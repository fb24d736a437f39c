"""Which input and output of an ONNX file is which channel, and which are memory."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapless.core import Channel, GaplessError, Interface

from .onnx_drawing import MEMORY, NEXT

FLOATS = ("float16", "float32", "float64")


@dataclass(frozen=True)
class Port:
    """One input or output, and the channels that lie in it side by side."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    channels: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}{list(self.shape)}"


@dataclass(frozen=True)
class Cell:
    """An input whose value in the next step is an output of this one; zeros before the first."""

    before: Port
    after: Port


@dataclass(frozen=True)
class Wiring:
    """Everything that goes into a step and comes out of it."""

    measured: tuple[Port, ...]
    commanded: tuple[Port, ...]
    memory: tuple[Cell, ...]


def own_wiring(step: dict[str, Any], interface: Interface, path: Path) -> Wiring:
    """The wiring of a file that Gapless wrote: one port per channel, by name."""
    inputs, outputs = ({p.name: p for p in side} for side in _ports(step))
    before = [name for name in inputs if name.startswith(MEMORY)]
    pairs = [(inputs.pop(name), outputs.pop(NEXT + name, None)) for name in before]
    cells = tuple(Cell(b, a) for b, a in pairs if a is not None and _alike(b, a))
    found = len(cells) == len(pairs)
    for side, channels in ((inputs, interface.measurements), (outputs, interface.commands)):
        found &= {(p.name, p.shape, p.dtype) for p in side.values()} == {
            (c.name, (c.width,), "float32") for c in channels
        }
    if not found:
        raise GaplessError(
            f"{path} says that Gapless wrote it, but its inputs and outputs are not those of its interface: "
            f"{_spelled(step)}. Export the policy again."
        )
    measured = tuple(_carrying(inputs[c.name], (c,)) for c in interface.measurements)
    return Wiring(measured, tuple(_carrying(outputs[c.name], (c,)) for c in interface.commands), cells)


def foreign_wiring(step: dict[str, Any], interface: Interface, path: Path) -> Wiring:
    """The wiring of anybody's file: all measurements in one input, all commands in one output, the rest is memory."""
    inputs, outputs = _ports(step)
    cells = _named_cells(inputs, outputs)
    inputs = [p for p in inputs if p not in [c.before for c in cells]]
    outputs = [p for p in outputs if p not in [c.after for c in cells]]
    measured = next((p for p in inputs if _fits(p, interface.measurement_width)), None)
    commanded = next((p for p in outputs if _fits(p, interface.command_width)), None)
    before, after = ([p for p in side if p not in (measured, commanded)] for side in (inputs, outputs))
    alike = len(before) == len(after) and all(_alike(b, a) for b, a in zip(before, after, strict=True))
    if measured is None or commanded is None or not alike:
        raise GaplessError(
            f"{path} is no policy for {interface.robot!r}: {_spelled(step)}. Expected are one float input of width "
            f"{interface.measurement_width} ({_listed(interface.measurements)}), one float output of width "
            f"{interface.command_width} ({_listed(interface.commands)}), either alone or with a leading axis of 1, and "
            "for each further input x an output x_out or next_x of the same shape. Export the policy like that."
        )
    return Wiring(
        (_carrying(measured, interface.measurements),),
        (_carrying(commanded, interface.commands),),
        (*cells, *(Cell(b, a) for b, a in zip(before, after, strict=True))),
    )


def _named_cells(inputs: list[Port], outputs: list[Port]) -> list[Cell]:
    named = {p.name: p for p in outputs}
    cells = []
    for p in inputs if len(inputs) > 1 else []:
        stem = p.name.removesuffix("_in")
        spellings = (f"{p.name}_out", f"next_{p.name}", f"next.{p.name}", f"{p.name}_next", f"{stem}_out")
        after = next((named[s] for s in spellings if s in named), None)
        if after is not None and _alike(p, after):
            cells.append(Cell(p, named.pop(after.name)))
    return cells


def _ports(step: dict[str, Any]) -> tuple[list[Port], list[Port]]:
    inputs, outputs = (
        [Port(p["name"], p["dtype"], tuple(p["shape"])) for p in step[kind]] for kind in ("inputs", "outputs")
    )
    return inputs, outputs


def _carrying(port: Port, channels: tuple[Channel, ...]) -> Port:
    return Port(port.name, port.dtype, port.shape, tuple(c.name for c in channels))


def _fits(port: Port, width: int) -> bool:
    return port.dtype in FLOATS and port.shape in ((width,), (1, width))


def _alike(before: Port, after: Port) -> bool:
    return (before.shape, before.dtype) == (after.shape, after.dtype)


def _spelled(step: dict[str, Any]) -> str:
    inputs, outputs = (", ".join(f"{p} {p.dtype}" for p in side[:8]) or "nothing" for side in _ports(step))
    return f"in goes {inputs}, out comes {outputs}"


def _listed(channels: tuple[Channel, ...]) -> str:
    return ", ".join(f"{c.name}[{c.width}]" for c in channels)
