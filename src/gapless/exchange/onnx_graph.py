"""A network policy as one ONNX graph, drawn by hand: measurements and memory in, commands and the next memory out."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import gapless
from gapless.core import GaplessError, Interface
from gapless.core.observation import Kind
from gapless.nets.policy import NetworkPolicy, command_scale
from gapless.nets.recall import kind_of

OPSET = 17
IR_VERSION = 8
"""Both are old enough for any onnxruntime from 1.12 on."""
MEMORY = "memory."
NEXT = "next."
BEGUN = "memory.begun"
COMMANDS = "memory.commands"
INNER = "~"


def frames_name(channel: str) -> str:
    return f"memory.frames.{channel}"


def graph_bytes(
    graph: onnx.GraphProto, about: str, texts: dict[str, str], network: onnx.ModelProto | None = None
) -> bytes:
    """The content of an ONNX file with these texts as metadata: the same graph gives the same bytes.

    A network from elsewhere in the graph says of which version its operators are.
    """
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)] if network is None else network.opset_import,
        ir_version=IR_VERSION if network is None else max(IR_VERSION, network.ir_version),
        producer_name="gapless",
        producer_version=gapless.__version__,
        doc_string=about,
    )
    helper.set_model_props(model, texts)
    return model.SerializeToString(deterministic=True)


class Drawing:
    """A graph while it is drawn: each operation returns the name of what comes out of it."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, *shape: int | str) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def output(self, name: str, value: str, *shape: int | str) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def constant(self, value: object, dtype: type = np.float32) -> str:
        name = f"{INNER}constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype, order="C"), name))
        return name

    def op(self, kind: str, *values: str, **attributes: Any) -> str:
        name = f"{INNER}{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, values, [name], **attributes))
        return name

    def row(self, matrix: str, index: int) -> str:
        return self.op("Gather", matrix, self.constant(index, np.int64), axis=0)

    def cut(self, value: str, begin: int, end: int) -> str:
        """Entries `begin` to `end` of the first axis."""
        return self.op("Slice", value, *(self.constant([k], np.int64) for k in (begin, end, 0)))

    def as_row(self, vector: str) -> str:
        return self.op("Unsqueeze", vector, self.constant([0], np.int64))


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
        shifted = _shift(drawing, values, COMMANDS, observe.commands)
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
        shifted = _shift(drawing, name, past, rows)
        frames[name] = drawing.op("Where", begun, shifted, drawing.as_row(name))
        drawing.output(NEXT + past, frames[name], *shape)
    return frames


def _shift(drawing: Drawing, newest: str, past: str, rows: int) -> str:
    row = drawing.as_row(newest)
    return row if rows == 1 else drawing.op("Concat", row, drawing.cut(past, 0, rows - 1), axis=0)


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
    assert isinstance(policy.network, eqx.nn.MLP)
    for layer in policy.network.layers:
        assert layer.bias is not None
        x = drawing.op("MatMul", x, drawing.constant(np.asarray(layer.weight).T))
        x = drawing.op("Tanh", drawing.op("Add", x, drawing.constant(layer.bias)))  # the last tanh bounds the command
    return x


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
    if policy.told or not isinstance(policy.network, eqx.nn.MLP):
        kind = "is told params" if policy.told else f"has a network of the kind {kind_of(policy.network)!r}"
        raise GaplessError(
            f"this policy for {interface.robot!r} {kind}, which is not exported. Distil it into a feed-forward student first."
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
