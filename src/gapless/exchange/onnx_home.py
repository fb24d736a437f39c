"""A network that somebody else's learner trained in practice worlds comes home, as one ONNX file that runs on the robot."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import compose, helper, version_converter

import gapless
from gapless.core import GaplessError, Interface, Observation
from gapless.core.reading import read_limited
from gapless.nets.weights import write_whole

from .onnx_drawing import INNER, OPSET, Drawing, graph_bytes
from .onnx_graph import step_graph
from .onnx_in import FORMAT, INTERFACE, LARGEST, OnnxPolicy, policy_in, tried
from .practice import eyes

NETWORK = f"{INNER}network/"
"""What the names inside the network begin with."""
ABOUT = "One control step. Begin with all memory inputs at zero; feed each next.memory output back in."


def bring_home(network: Path, path: Path, interface: Interface, observe: Observation) -> OnnxPolicy:
    """Write the policy that a network from observations to commands in ±1 makes, and return it.

    The file remembers, computes features and keeps to the limits as the practice worlds did: measurements go in and commands
    come out, both in SI units.
    """
    content = read_limited(network, LARGEST)
    step = tried(content, network)
    _require_network(step, (observe.width(interface), interface.command_width), network)
    model = _modern(onnx.ModelProto.FromString(content), network)
    flat = len(step["inputs"][0]["shape"]) == 1
    graph = step_graph(eyes(interface, observe), lambda drawing, seen: _spliced(drawing, model.graph, seen, flat))
    whole = graph_bytes(graph, ABOUT, _texts(interface, observe), model)
    try:
        policy = policy_in(whole, interface, path)
    except Exception as error:  # onnxruntime has no common class of errors
        raise GaplessError(
            f"{network} does not run between the observation and the limits: {str(error)[:300]}. Export it with opset {OPSET}."
        ) from None
    write_whole(path, whole)
    return policy


def _require_network(step: dict[str, Any], widths: tuple[int, int], path: Path) -> None:
    ports = [*step["inputs"], *step["outputs"]]
    alone = len(step["inputs"]) == len(step["outputs"]) == 1
    fits = [p["shape"] in ([n], [1, n]) and p["dtype"] == "float32" for p, n in zip(ports, widths, strict=False)]
    if not alone or not all(fits):
        found = ", ".join(f"{p['name']}{p['shape']} {p['dtype']}" for p in ports[:8])
        raise GaplessError(
            f"{path} is no network for this task: it has {found}. Expected are one float32 input of width {widths[0]}, the "
            f"observation, and one float32 output of width {widths[1]}, the command in ±1, either alone or with a leading "
            "axis. Export the network like that, its normalisation included."
        )


def _modern(model: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """The same network in operators no older than ours."""
    if all(o.version >= OPSET for o in model.opset_import if o.domain in ("", "ai.onnx")):
        return model
    try:
        return version_converter.convert_version(model, OPSET)
    except Exception as error:  # the converter is C++ and raises anything
        raise GaplessError(
            f"{path} has operators too old to be converted ({str(error)[:200]}). Export it with opset {OPSET} or newer."
        ) from None


def _spliced(drawing: Drawing, network: onnx.GraphProto, seen: str, flat: bool) -> str:
    """Draws the network behind an observation; what comes out of it."""
    graph = compose.add_prefix_graph(network, NETWORK)
    known = {t.name for t in graph.initializer}
    entry = next(i.name for i in graph.input if i.name not in known)
    drawing.nodes.append(helper.make_node("Identity", [seen if flat else drawing.as_row(seen)], [entry]))
    drawing.nodes.extend(graph.node)
    drawing.constants.extend(graph.initializer)
    return drawing.op("Reshape", graph.output[0].name, drawing.constant([-1], np.int64))


def _texts(interface: Interface, observe: Observation) -> dict[str, str]:
    described = {INTERFACE: interface.to_dict(), "gapless.observation": observe.to_dict(), "gapless.extra": {}}
    texts = {name: json.dumps(value, sort_keys=True, allow_nan=False) for name, value in described.items()}
    return {"gapless.format": FORMAT, "gapless.version": gapless.__version__, **texts}
