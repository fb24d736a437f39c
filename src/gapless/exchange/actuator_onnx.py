"""An actuator network as one ONNX graph for any number of joints at once."""

import numpy as np
import onnx
from onnx import helper

from gapless.nets.actuator_network import ActuatorNetwork, Recurrence

from .onnx_drawing import MEMORY, NEXT, Drawing

ERROR, VELOCITY, TORQUE = "error", "velocity", "torque"
HIDDEN = f"{MEMORY}hidden"
MANY = "joints"
OPERATORS = {"tanh": "Tanh", "relu": "Relu", "elu": "Elu", "softsign": "Softsign", "softplus": "Softplus"}


def actuator_graph(network: ActuatorNetwork) -> onnx.GraphProto:
    """Histories of error and velocity, each (joints, history) with the newest as described, to torques (joints,)."""
    drawing, seen = Drawing(), len(network.history)
    sides = [drawing.input(name, MANY, seen) for name in (ERROR, VELOCITY)]
    x = drawing.op("Concat", *sides, axis=1)
    if network.scales.low is not None:
        x = drawing.op("Max", x, drawing.constant(network.scales.low))
    if network.scales.high is not None:
        x = drawing.op("Min", x, drawing.constant(network.scales.high))
    x = drawing.op("Sub", x, drawing.constant(network.scales.shift))
    x = drawing.op("Mul", x, drawing.constant(network.scales.scale))
    if network.recurrence is not None:
        x = _recur(drawing, network.recurrence, x)
    straight = None if network.linear is None else _linear(drawing, x, network.linear[None])
    for layer in network.layers[:-1]:
        x = _activate(drawing, network.activation, _linear(drawing, x, layer.weight, layer.bias))
    answer = _linear(drawing, x, network.layers[-1].weight, network.layers[-1].bias)
    if straight is not None:
        answer = drawing.op("Add", answer, straight)
    flat = drawing.op("Squeeze", answer, drawing.constant([1], np.int64))
    scaled = drawing.op("Mul", flat, drawing.constant(network.scales.torque))
    drawing.output(TORQUE, drawing.op("Add", scaled, drawing.constant(network.scales.torque_shift)), MANY)
    return helper.make_graph(drawing.nodes, "actuator", drawing.inputs, drawing.outputs, drawing.constants)


def _linear(drawing: Drawing, x: str, weight: np.ndarray, bias: np.ndarray | None = None) -> str:
    product = drawing.op("MatMul", x, drawing.constant(weight.T))
    return product if bias is None else drawing.op("Add", product, drawing.constant(bias))


def _activate(drawing: Drawing, activation: str, x: str) -> str:
    if activation == "silu":
        return drawing.op("Mul", x, drawing.op("Sigmoid", x))
    return drawing.op(OPERATORS[activation], x)


def _recur(drawing: Drawing, cell: Recurrence, x: str) -> str:
    hidden = drawing.input(HIDDEN, MANY, cell.width)
    seen, kept = [], []
    for gate in range(3):
        rows = slice(gate * cell.width, (gate + 1) * cell.width)
        seen.append(_linear(drawing, x, cell.weight_in[rows], cell.bias[rows]))
        kept.append(_linear(drawing, hidden, cell.weight_hidden[rows], cell.bias_new if gate == 2 else None))
    reset, update = (drawing.op("Sigmoid", drawing.op("Add", s, k)) for s, k in zip(seen[:2], kept[:2], strict=True))
    new = drawing.op("Tanh", drawing.op("Add", seen[2], drawing.op("Mul", reset, kept[2])))
    after = drawing.op("Add", new, drawing.op("Mul", update, drawing.op("Sub", hidden, new)))
    drawing.output(NEXT + HIDDEN, after, MANY, cell.width)
    return after
