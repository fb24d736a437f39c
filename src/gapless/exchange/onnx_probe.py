"""Try an ONNX file before it is trusted: only standard operators, nothing outside the file, a first step that ends.

Run as a script it reads the file from its standard input, in a process of its own with limits on memory and time, and
prints what it found as JSON. So it imports nothing of Gapless.
"""

import json
import sys
from typing import Any

import numpy as np
import onnxruntime
from google.protobuf.message import Message

MEMORY_BYTES = 4 * 2**30
SECONDS = 10
STANDARD = ("", "ai.onnx", "ai.onnx.ml")
UNBOUNDED = ("Loop", "Scan")
SIZED_BY_ANY = (
    *("BlackmanWindow", "Compress", "ConstantOfShape", "HammingWindow", "HannWindow", "If", "ImageDecoder"),
    *("MelWeightMatrix", "NonMaxSuppression", "NonZero", "Range", "Unique"),
)
"""Operators whose work or whose result's shape follows from the values of any of their inputs."""
SIZED_BY_REST = (
    *(
        "AffineGrid",
        "CenterCropPad",
        "Col2Im",
        "DFT",
        "Expand",
        "MaxUnpool",
        "OneHot",
        "Pad",
        "Reshape",
        "Resize",
        "STFT",
    ),
    *(
        "SequenceAt",
        "SequenceErase",
        "Slice",
        "Split",
        "SplitToSequence",
        "Squeeze",
        "Tile",
        "TopK",
        "Unsqueeze",
        "Upsample",
    ),
)
"""The same, from the values of any input but the first; so do all whose name begins with Reduce."""
SHAPES = ("Shape", "Size")
"""Operators whose result follows from shapes alone."""
LARGEST_METADATA = 2**20
"""Letters of metadata at most."""
DTYPES = {
    "tensor(float16)": "float16",
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(bool)": "bool",
}


def open_session(content: bytes) -> onnxruntime.InferenceSession:
    """An onnxruntime session on one thread of the CPU."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.load_model_format", "ONNX")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def first_step(session: onnxruntime.InferenceSession) -> dict[str, Any]:
    """Names, types and shapes of what goes in and comes out in a step on zeros; a free axis has length 1."""
    inputs = [{"name": i.name, "dtype": _dtype(i), "shape": _shape(i.shape)} for i in session.get_inputs()]
    results = session.run(None, {i["name"]: np.zeros(i["shape"], i["dtype"]) for i in inputs})
    outputs = [
        {"name": o.name, "dtype": _dtype(o), "shape": list(np.asarray(value).shape)}
        for o, value in zip(session.get_outputs(), results, strict=True)
    ]
    return {"inputs": inputs, "outputs": outputs, "metadata": session.get_modelmeta().custom_metadata_map}


def faults(message: Any) -> set[str]:
    """What in a parsed model reaches outside it or may never end."""
    found, kind = set(), message.DESCRIPTOR.name
    if kind == "FunctionProto":
        found.add("functions of its own (onnx.inliner.inline_local_functions removes them)")
    elif kind == "NodeProto" and message.domain not in STANDARD:
        found.add(f"the operator {message.domain}.{message.op_type}, which is not a standard one")
    elif kind == "NodeProto" and message.op_type in UNBOUNDED:
        found.add(f"a {message.op_type}, for which no time can be guaranteed")
    elif kind == "TensorProto" and (message.data_location == message.EXTERNAL or message.external_data):
        found.add("weights in another file (onnx.save writes them into it)")
    for field, value in message.ListFields():
        if field.message_type is not None:
            inner = [value] if isinstance(value, Message) else value
            found |= set().union(*(faults(m) for m in inner))
    return found


def surprises(graph: Any, measured: set[str]) -> set[str]:
    """Operators whose work follows from what is measured, so that a first step on zeros would say nothing about it."""
    measured = measured | ({i.name for i in graph.input} - {t.name for t in graph.initializer})
    found = set()
    for node in graph.node:
        inner = [a.g for a in node.attribute if a.g.node]
        found |= set().union(*(surprises(g, measured) for g in inner))
        if not measured.isdisjoint(_sizing(node)):
            found.add(f"the operator {node.op_type}, whose work depends on what is measured")
        reads = {*node.input, *(name for g in inner for n in g.node for name in n.input)}
        if node.op_type not in SHAPES and not reads.isdisjoint(measured):
            measured |= set(node.output)
    return found


def _sizing(node: Any) -> list[str]:
    """The inputs of an operator from whose values its work follows."""
    if node.op_type in SIZED_BY_ANY:
        return list(node.input)
    sized = node.op_type in SIZED_BY_REST or node.op_type.startswith("Reduce")
    return list(node.input[1:]) if sized else []


def _dtype(port: Any) -> str:
    if port.type not in DTYPES:
        raise ValueError(f"{port.name!r} is a {port.type}; only plain tensors of numbers are passed")
    return DTYPES[port.type]


def _shape(declared: list[Any]) -> list[int]:
    return [n if isinstance(n, int) else 1 for n in declared]


def _limit() -> None:
    try:
        import resource
    except ImportError:  # not on Windows; the time limit holds there, too
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _look(content: bytes) -> dict[str, Any]:
    import onnx

    try:
        model = onnx.ModelProto.FromString(content)
        found = sorted(faults(model) | surprises(model.graph, set()))
        letters = sum(len(p.key) + len(p.value) for p in model.metadata_props)
        if letters > LARGEST_METADATA:
            found.append(f"{letters} letters of metadata; {LARGEST_METADATA} are possible")
        if found:
            return {"fault": f"contains {'; '.join(found[:3])}"}
        return first_step(open_session(content))
    except Exception as error:  # a damaged file raises anything, from deep inside a parser
        reason = (str(error).splitlines() or [""])[0][:300]
        return {"fault": f"cannot be run by onnxruntime ({type(error).__name__}: {reason})"}


if __name__ == "__main__":
    _limit()
    print(json.dumps(_look(sys.stdin.buffer.read())))
