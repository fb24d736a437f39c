"""The networks of policies as ONNX operators: feed-forward, gated cells, attention, and a guess at a latent."""

from typing import Any

import equinox as eqx
import numpy as np

from gapless.core import GaplessError
from gapless.nets.latent import HISTORY, Adapting, first_rows
from gapless.nets.recall import Attention, Gru, Layer, Lstm, kind_of

from .onnx_drawing import MEMORY, Drawing

HIDDEN, CELL = "hidden", "cell"


def answer(drawing: Drawing, network: Any, x: str) -> str:
    """The network's answer to a vector; what it remembers goes in and comes out beside it, and begins at zeros."""
    match network:
        case eqx.nn.MLP():
            return _layers(drawing, network, x, "Tanh")
        case Gru():
            return _gru(drawing, network, x)
        case Lstm():
            return _lstm(drawing, network, x)
        case Attention():
            return _attention(drawing, network, x)
        case Adapting():
            return _adapting(drawing, network, x)
    raise GaplessError(f"a network of the kind {kind_of(network)!r} is not exported. Distil it into one that is.")


def remembered_by(network: Any, hidden: Any) -> dict[str, np.ndarray]:
    """What a network remembers, by the names of the inputs for it."""
    match network:
        case Gru():
            named = {HIDDEN: hidden}
        case Lstm():
            named = dict(zip((HIDDEN, CELL), hidden, strict=True))
        case _:
            named = dict(hidden or {})
    return {MEMORY + name: np.asarray(value, np.float32) for name, value in named.items()}


def _layers(drawing: Drawing, network: eqx.nn.MLP, x: str, activation: str) -> str:
    for layer in network.layers[:-1]:
        x = drawing.op(activation, drawing.dense(x, layer.weight, layer.bias))
    return drawing.dense(x, network.layers[-1].weight, network.layers[-1].bias)


def _gru(drawing: Drawing, network: Gru, x: str) -> str:
    cell, width = network.cell, network.cell.hidden_size
    before = drawing.remembered(HIDDEN, width)
    x = drawing.op("Tanh", drawing.dense(x, network.into.weight, network.into.bias))
    seen = _split(drawing, drawing.dense(x, cell.weight_ih, cell.bias), width, 3)
    held = _split(drawing, drawing.dense(before, cell.weight_hh), width, 3)
    reset, keep = (drawing.op("Sigmoid", drawing.op("Add", seen[k], held[k])) for k in (0, 1))
    recalled = drawing.op("Mul", reset, drawing.op("Add", held[2], drawing.constant(cell.bias_n)))
    new = drawing.op("Tanh", drawing.op("Add", seen[2], recalled))
    after = drawing.op("Add", new, drawing.op("Mul", keep, drawing.op("Sub", before, new)))
    drawing.remember(HIDDEN, after, width)
    return drawing.dense(after, network.out.weight, network.out.bias)


def _lstm(drawing: Drawing, network: Lstm, x: str) -> str:
    cell, width = network.cell, network.cell.hidden_size
    before, held = drawing.remembered(HIDDEN, width), drawing.remembered(CELL, width)
    x = drawing.op("Tanh", drawing.dense(x, network.into.weight, network.into.bias))
    gates = drawing.op("Add", drawing.dense(x, cell.weight_ih, cell.bias), drawing.dense(before, cell.weight_hh))
    kinds = ("Sigmoid", "Sigmoid", "Tanh", "Sigmoid")
    pairs = zip(kinds, _split(drawing, gates, width, 4), strict=True)
    enter, forget, new, leave = (drawing.op(kind, gate) for kind, gate in pairs)
    held = drawing.op("Add", drawing.op("Mul", forget, held), drawing.op("Mul", enter, new))
    after = drawing.op("Mul", leave, drawing.op("Tanh", held))
    drawing.remember(HIDDEN, after, width)
    drawing.remember(CELL, held, width)
    return drawing.dense(after, network.out.weight, network.out.bias)


def _attention(drawing: Drawing, network: Attention, x: str) -> str:
    last, width = len(network.ages), int(network.into.in_features)
    inputs = drawing.shift(x, drawing.remembered("inputs", last, width), last)
    past = drawing.cut(drawing.remembered("known", last), 0, last - 1)
    known = drawing.op("Concat", drawing.constant([1.0]), past, axis=0)
    rows = drawing.op(
        "Add", drawing.dense(inputs, network.into.weight, network.into.bias), drawing.constant(network.ages)
    )
    # What is not known yet weighs nothing: its score is the lowest number there is.
    seen = drawing.op("Greater", known, drawing.constant(0.5))
    for layer in network.layers:
        rows = _layer(drawing, layer, rows, seen)
    drawing.remember("inputs", inputs, last, width)
    drawing.remember("known", known, last)
    return drawing.dense(drawing.op("Tanh", drawing.row(rows, 0)), network.out.weight, network.out.bias)


def _layer(drawing: Drawing, layer: Layer, rows: str, seen: str) -> str:
    calm, attention = _calmed(drawing, layer.before, rows), layer.attention
    heads, projections = attention.num_heads, (attention.query_proj, attention.key_proj, attention.value_proj)
    query, key, value = (_heads(drawing, drawing.dense(calm, p.weight, p.bias), heads) for p in projections)
    size = attention.qk_size
    scaled = drawing.op("Div", query, drawing.constant(np.sqrt(size)))
    scores = drawing.op("MatMul", scaled, drawing.op("Transpose", key, perm=[0, 2, 1]))
    scores = drawing.op("Where", seen, scores, drawing.constant(np.finfo(np.float32).min))
    mixed = drawing.op("MatMul", drawing.op("Softmax", scores, axis=-1), value)
    flat = drawing.op("Transpose", mixed, perm=[1, 0, 2])
    flat = drawing.op("Reshape", flat, drawing.constant([0, -1], np.int64))
    out = attention.output_proj
    rows = drawing.op("Add", rows, drawing.dense(flat, out.weight, out.bias))
    return drawing.op("Add", rows, _layers(drawing, layer.dense, _calmed(drawing, layer.between, rows), "Relu"))


def _adapting(drawing: Drawing, network: Adapting, x: str) -> str:
    sent = int(network.trunk.out_size)
    width = int(network.guess.in_size) // HISTORY
    newest = drawing.op("Concat", x, drawing.remembered("sent", sent), drawing.constant([1.0]), axis=0)
    filled = drawing.op("Greater", drawing.remembered("filled", 1), drawing.constant(0.5))
    rows = drawing.shift(newest, drawing.remembered("rows", HISTORY, width), HISTORY)
    first = drawing.op("Mul", drawing.as_row(newest), drawing.constant(first_rows(width)))
    rows = drawing.op("Where", filled, rows, first)
    flat = drawing.op("Reshape", rows, drawing.constant([-1], np.int64))
    latent = drawing.op("Tanh", _layers(drawing, network.guess, flat, "Tanh"))
    found = _layers(drawing, network.trunk, drawing.op("Concat", x, latent, axis=0), "Tanh")
    drawing.remember("rows", rows, HISTORY, width)
    drawing.remember("sent", drawing.op("Tanh", found), sent)
    drawing.remember("filled", drawing.constant([1.0]), 1)
    return found


def _split(drawing: Drawing, value: str, width: int, parts: int) -> list[str]:
    return [drawing.cut(value, k * width, (k + 1) * width) for k in range(parts)]


def _heads(drawing: Drawing, rows: str, heads: int) -> str:
    """Rows (past, width) as (head, past, share)."""
    split = drawing.op("Reshape", rows, drawing.constant([0, heads, -1], np.int64))
    return drawing.op("Transpose", split, perm=[1, 0, 2])


def _calmed(drawing: Drawing, norm: eqx.nn.LayerNorm, rows: str) -> str:
    weights = drawing.constant(norm.weight), drawing.constant(norm.bias)
    return drawing.op("LayerNormalization", rows, *weights, axis=-1, epsilon=norm.eps)
