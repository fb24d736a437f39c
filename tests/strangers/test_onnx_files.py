"""Somebody else's ONNX policy computes commands from measurements, in bounded time and memory, and does nothing else."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from gapless.exchange import load_onnx_policy
from gapless.exchange.onnx_probe import surprises
from gapless.robots.cartpole import INTERFACE

WEIGHTS = np.ones((2, 1), np.float32)
LINEAR = helper.make_node("MatMul", ["obs", "w"], ["act"])
Z = helper.make_node("MatMul", ["obs", "w"], ["z"])


def written(path: Path, nodes: list[Any], metadata: dict[str, str] | None = None, **constants: Any) -> Path:
    """An ONNX file that turns obs, two numbers, into act, one number."""
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, k]) for n, k in (("obs", 2), ("act", 1))]
    held = [
        v if isinstance(v, TensorProto) else numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()
    ]
    graph = helper.make_graph(nodes, "stranger", ports[:1], ports[1:], held)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.stranger", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    helper.set_model_props(model, metadata or {})
    path.write_bytes(model.SerializeToString())
    return path


def loaded(path: Path) -> object:
    return load_onnx_policy(path, INTERFACE)


def external(location: str) -> TensorProto:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 1], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return tensor


@pytest.mark.parametrize("location", ["secret.bin", "../secret.bin", "/etc/passwd", ""])
def test_weights_in_another_file_are_not_read(tmp_path: Path, location: str, refusal) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(8))
    path = written(tmp_path / "p.onnx", [LINEAR], w=external(location))
    assert "contains weights in another file" in refusal(loaded, path)


def test_weights_in_another_file_deep_inside_a_branch_are_not_read(tmp_path: Path, refusal) -> None:
    node = helper.make_node("Constant", [], ["act"], value=external("../secret.bin"))
    branch = helper.make_graph([node], "b", [], [helper.make_tensor_value_info("act", 1, [1, 1])])
    nodes = [helper.make_node("If", ["yes"], ["act"], then_branch=branch, else_branch=branch)]
    path = written(tmp_path / "p.onnx", nodes, yes=np.bool_(True))
    assert "contains weights in another file" in refusal(loaded, path)


@pytest.mark.parametrize("domain", ["com.stranger", "com.microsoft", "ai.onnx.contrib", "pyop"])
def test_operators_outside_the_standard_are_refused(tmp_path: Path, domain: str, refusal) -> None:
    path = written(tmp_path / "p.onnx", [helper.make_node("PyOp", ["obs"], ["act"], domain=domain)])
    assert f"the operator {domain}.PyOp, which is not a standard one" in refusal(loaded, path)


def zeros_of(size: str, *more: Any) -> list[Any]:
    """A command that needs as many zeros as `size` says."""
    return [
        *more,
        helper.make_node("ConstantOfShape", [size], ["many"]),
        helper.make_node("ReduceSum", ["many"], ["sum"], keepdims=0),
        Z,
        helper.make_node("Add", ["z", "sum"], ["act"]),
    ]


def test_a_bomb_that_the_first_measurement_sets_off_is_refused(tmp_path: Path, refusal) -> None:
    # On zeros, as in the trial, this asks for no memory at all; at one metre for four terabytes.
    count = [
        helper.make_node("Mul", ["obs", "huge"], ["product"]),
        helper.make_node("Cast", ["product"], ["whole"], to=TensorProto.INT64),
        helper.make_node("Reshape", ["whole", "flat"], ["size"]),
    ]
    constants = {"huge": np.float32(1e6), "flat": np.array([-1]), "w": WEIGHTS}
    said = refusal(loaded, written(tmp_path / "p.onnx", zeros_of("size", *count), **constants))
    assert "the operator ConstantOfShape, whose work depends on what is measured" in said


def test_a_bomb_behind_a_count_of_measurements_is_refused(tmp_path: Path, refusal) -> None:
    count = [
        helper.make_node("NonZero", ["obs"], ["places"]),
        helper.make_node("Shape", ["places"], ["found"]),
        helper.make_node("Mul", ["found", "huge"], ["size"]),
    ]
    path = written(tmp_path / "p.onnx", zeros_of("size", *count), huge=np.int64(10**6), w=WEIGHTS)
    assert "the operator NonZero, whose work depends on what is measured" in refusal(loaded, path)


def test_a_branch_that_a_measurement_chooses_is_refused(tmp_path: Path, refusal) -> None:
    branch = helper.make_graph([LINEAR], "b", [], [helper.make_tensor_value_info("act", 1, [1, 1])])
    nodes = [
        helper.make_node("ReduceMax", ["obs"], ["most"], keepdims=0),
        helper.make_node("Greater", ["most", "half"], ["far"]),
        helper.make_node("If", ["far"], ["act"], then_branch=branch, else_branch=branch),
    ]
    path = written(tmp_path / "p.onnx", nodes, half=np.float32(0.5), w=WEIGHTS)
    assert "the operator If, whose work depends on what is measured" in refusal(loaded, path)


def test_sizes_that_follow_from_shapes_are_no_surprise() -> None:
    nodes = [
        helper.make_node("Shape", ["obs"], ["shape"]),
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        helper.make_node("Expand", ["obs", "shape"], ["same"]),
        helper.make_node("Reshape", ["same", "flat"], ["row"]),
        helper.make_node("Gather", ["table", "obs"], ["looked.up"]),
    ]
    ports = [helper.make_tensor_value_info("obs", 1, [1, 2])]
    flat = numpy_helper.from_array(np.array([-1]), "flat")
    assert surprises(helper.make_graph(nodes, "g", ports, [], [flat]), set()) == set()


def test_constants_that_double_until_memory_ends_are_refused(tmp_path: Path, refusal) -> None:
    doubling = [helper.make_node("Concat", [f"x{k}", f"x{k}"], [f"x{k + 1}"], axis=0) for k in range(36)]
    nodes = [
        helper.make_node("Identity", ["obs"], ["x0"]),
        *doubling,
        helper.make_node("ReduceMax", ["x36"], ["most"], keepdims=0),
        Z,
        helper.make_node("Add", ["z", "most"], ["act"]),
    ]
    assert "p.onnx" in refusal(loaded, written(tmp_path / "p.onnx", nodes, w=WEIGHTS))


@pytest.mark.parametrize("dims", [[2**40], [2**31, 2**31, 2**31], [-1], [2**62, 4]])
def test_weights_of_absurd_shape_are_refused(tmp_path: Path, dims: list[int], refusal) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=bytes(8))
    assert "cannot be run by onnxruntime" in refusal(loaded, written(tmp_path / "p.onnx", [LINEAR], w=tensor))


def test_metadata_of_absurd_size_is_refused(tmp_path: Path, refusal) -> None:
    path = written(tmp_path / "p.onnx", [LINEAR], {"note": "x" * 2**21}, w=WEIGHTS)
    assert "letters of metadata" in refusal(loaded, path)


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "[" * 10**5,
        json.dumps({**INTERFACE.to_dict(), "period_s": 1e-300}),
        json.dumps({**INTERFACE.to_dict(), "commands": [{"name": "\x1b[2J\n", "width": 10**12}]}),
        json.dumps({**INTERFACE.to_dict(), "robot": ["cartpole"]}),
    ],
)
def test_a_hostile_interface_in_the_metadata_is_refused(tmp_path: Path, text: str, refusal) -> None:
    told = {"gapless.format": "1", "gapless.interface": text}
    assert "cannot be understood" in refusal(loaded, written(tmp_path / "p.onnx", [LINEAR], told, w=WEIGHTS))


@pytest.mark.parametrize("content", [b"", b"\x80\x04K\x01.", b"PK\x03\x04", b"\x0a" * 10**6, b"\xff" * 64])
def test_what_is_no_onnx_is_refused(tmp_path: Path, content: bytes, refusal) -> None:
    (tmp_path / "p.onnx").write_bytes(content)
    assert "cannot be run by onnxruntime" in refusal(loaded, tmp_path / "p.onnx")


def test_a_sparse_giant_is_not_read(tmp_path: Path, refusal) -> None:
    with (tmp_path / "p.onnx").open("wb") as file:
        file.truncate(2**40)
    assert "has more than" in refusal(loaded, tmp_path / "p.onnx")
