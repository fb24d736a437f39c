"""An ONNX graph while it is drawn by hand, and the file that it becomes."""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import gapless

OPSET = 17
IR_VERSION = 8
"""Both are old enough for any onnxruntime from 1.12 on."""
MEMORY = "memory."
NEXT = "next."
INNER = "~"


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

    def dense(self, x: str, weight: Any, bias: Any = None) -> str:
        """A vector, or each row of a matrix, through a layer."""
        x = self.op("MatMul", x, self.constant(np.asarray(weight).T))
        return x if bias is None else self.op("Add", x, self.constant(bias))

    def remembered(self, name: str, *shape: int) -> str:
        """An input that holds what this step's output of the same name was in the step before."""
        return self.input(MEMORY + name, *shape)

    def remember(self, name: str, value: str, *shape: int) -> None:
        self.output(NEXT + MEMORY + name, value, *shape)

    def shift(self, newest: str, past: str, rows: int) -> str:
        """A history with one row more at its beginning and one less at its end."""
        row = self.as_row(newest)
        return row if rows == 1 else self.op("Concat", row, self.cut(past, 0, rows - 1), axis=0)

    def as_row(self, vector: str) -> str:
        return self.op("Unsqueeze", vector, self.constant([0], np.int64))
