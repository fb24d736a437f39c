"""A network policy as one ONNX graph, drawn by hand: measurements and memory in, commands and the next memory out."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

from gapless.core import GaplessError, Interface
from gapless.core.observation import Kind
from gapless.nets.policy import NetworkPolicy, command_scale

from .onnx_drawing import INNER, MEMORY, NEXT, Drawing
from .onnx_networks import answer

BEGUN = "memory.begun"
COMMANDS = "memory.commands"


def frames_name(channel: str) -> str:
    return f"memory.frames.{channel}"


def policy_graph(policy: NetworkPolicy) -> onnx.GraphProto:
    """The graph of one step. Every input and output is float32; all memory starts at zeros."""
    return step_graph(policy, lambda drawing, observation: _network(drawing, policy, observation))


def step_graph(policy: NetworkPolicy, network: Callable[[Drawing, str], str]) -> onnx.GraphProto:
    """The same with another network, drawn from the observation to commands of which ±1 are the limits."""
    _require_drawable(policy)
    drawing, interface, observe = Drawing(), policy.interface, policy.observe
    for c in interface.measurements:
        drawing.input(c.name, c.width)
    frames = _frames(drawing, policy)
    parts = [
        _feature(drawing, f.kind, (frames[f.channel], frame), interface.period_s)
        for frame in range(observe.frames)
        for f in observe.features
    ]
    if observe.commands:
        past = drawing.input(COMMANDS, observe.commands, interface.command_width)
        parts += [drawing.row(past, k) for k in range(observe.commands)]
    values = _limited(drawing, interface, network(drawing, drawing.op("Concat", *parts, axis=0)))
    _send(drawing, interface, values)
    if observe.commands:
        shifted = drawing.shift(values, COMMANDS, observe.commands)
        drawing.output(NEXT + COMMANDS, shifted, observe.commands, interface.command_width)
    return helper.make_graph(drawing.nodes, "policy", drawing.inputs, drawing.outputs, drawing.constants)


def _frames(drawing: Drawing, policy: NetworkPolicy) -> dict[str, str]:
    """The newest measurements of each channel, newest first; the first one fills the whole history."""
    rows, frames, begun = policy.observe.memory, {}, ""
    if rows > 1:
        begun = drawing.op("Greater", drawing.input(BEGUN, 1), drawing.constant(0.5))
        drawing.output(NEXT + BEGUN, drawing.constant([1.0]), 1)
    for name in sorted({f.channel for f in policy.observe.features}):
        if rows == 1:
            frames[name] = drawing.as_row(name)
            continue
        shape = rows, policy.interface.channel(name).width
        past = drawing.input(frames_name(name), *shape)
        shifted = drawing.shift(name, past, rows)
        frames[name] = drawing.op("Where", begun, shifted, drawing.as_row(name))
        drawing.output(NEXT + past, frames[name], *shape)
    return frames


def _feature(drawing: Drawing, kind: Kind, where: tuple[str, int], period_s: float) -> str:
    history, frame = where
    now = drawing.row(history, frame)
    if kind == "value":
        return now
    if kind in ("sin", "cos"):
        return drawing.op(kind.capitalize(), now)
    change = drawing.op("Sub", now, drawing.row(history, frame + 1))
    if kind == "angle_rate":
        change = _arctan2(drawing, drawing.op("Sin", change), drawing.op("Cos", change))
    return drawing.op("Div", change, drawing.constant(period_s))


def _arctan2(drawing: Drawing, sine: str, cosine: str) -> str:
    """The angle in ±π. ONNX has no Atan2; this one agrees with NumPy's on both sides of the seam."""
    zero, half_turn = drawing.constant(0.0), drawing.constant(np.pi)
    steep = drawing.op("Atan", drawing.op("Div", sine, cosine))
    above = drawing.op("Add", steep, half_turn)
    below = drawing.op("Sub", steep, half_turn)
    left = drawing.op("Where", drawing.op("Less", sine, zero), below, above)
    return drawing.op("Where", drawing.op("Less", cosine, zero), left, steep)


def _network(drawing: Drawing, policy: NetworkPolicy, observation: str) -> str:
    """All commands side by side, each limit at ±1."""
    moved = drawing.op("Sub", observation, drawing.constant(policy.shift))
    x = drawing.op("Mul", moved, drawing.constant(policy.scale))
    x = drawing.op("Clip", x, drawing.constant(-10.0), drawing.constant(10.0))
    return drawing.op("Tanh", answer(drawing, policy.network, x))


def _limited(drawing: Drawing, interface: Interface, unit: str) -> str:
    """All commands side by side, within their limits."""
    unit = drawing.op("Clip", unit, drawing.constant(-1.0), drawing.constant(1.0))
    middle, half = command_scale(interface)
    return drawing.op("Add", drawing.constant(middle), drawing.op("Mul", drawing.constant(half), unit))


def _send(drawing: Drawing, interface: Interface, values: str) -> None:
    begin = 0
    for c in interface.commands:
        drawing.output(c.name, drawing.cut(values, begin, begin + c.width), c.width)
        begin += c.width


def _require_drawable(policy: NetworkPolicy) -> None:
    interface = policy.interface
    if policy.told:
        raise GaplessError(
            f"this policy for {interface.robot!r} is told params, which no robot says. Distil it into a student first."
        )
    for name in interface.command_names + interface.measurement_names:
        if name.startswith((MEMORY, NEXT, INNER)):
            raise GaplessError(
                f"channel {name!r} cannot be exported: names that begin with {MEMORY!r}, {NEXT!r} or {INNER!r} "
                "are taken by the policy's memory. Rename the channel."
            )
    for f in policy.observe.features:
        if f.channel not in interface.measurement_names:
            raise GaplessError(
                f"the policy looks at {f.channel!r}, which is not measured "
                f"(measured are: {', '.join(interface.measurement_names)}). Correct its observation."
            )
