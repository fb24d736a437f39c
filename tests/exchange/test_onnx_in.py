"""A policy comes in as ONNX when it fits the robot; whatever does not is refused in one sentence."""

import dataclasses

import jax
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from gapless.core import Channel, GaplessError, Interface, Robot, Signals
from gapless.exchange import OnnxPolicy, export_policy, load_onnx_policy, onnx_in
from gapless.robots import record

KEY = jax.random.key(0)
WEIGHTS = np.array([[1.0], [10.0]], np.float32)
LINEAR = [helper.make_node("MatMul", ["obs", "w"], ["act"])]


class Resting(Robot):
    """A machine on its own clock that always measures the same."""

    def __init__(self, interface: Interface) -> None:
        self.interface, self.time_s = interface, 0.0

    def connect(self) -> None: ...

    def disconnect(self) -> None: ...

    def reset(self, episode: int) -> None: ...

    def get_observation(self) -> Signals:
        return {"cart.position": np.array([0.25]), "pole.angle": np.array([0.5])}

    def send_action(self, command: Signals) -> Signals:
        return command

    def now(self) -> float:
        return self.time_s

    def wait_until(self, time_s: float) -> None:
        self.time_s = time_s


def refusal(path, interface) -> str:
    with pytest.raises(GaplessError) as caught:
        load_onnx_policy(path, interface)
    assert str(path) in str(caught.value)
    return str(caught.value)


def first_command(policy: OnnxPolicy) -> float:
    seen: Signals = {"pole.angle": np.array([0.5]), "cart.position": np.array([0.25])}
    _, sent = policy.step({}, policy.init(KEY), seen, 0.0, KEY)
    assert sent["motor"].dtype == np.float64
    return float(sent["motor"][0])


def test_a_swapped_joint_order_is_an_error_message(cartpole, lively, tmp_path):
    path = tmp_path / "policy.onnx"
    export_policy(lively(cartpole), path)
    swapped = dataclasses.replace(cartpole, joints=("hinge", "slider"))
    assert "do not fit: joints hinge, slider against slider, hinge" in refusal(path, swapped)
    turned = dataclasses.replace(cartpole, measurements=cartpole.measurements[::-1])
    assert "measurements pole.angle[1] cart.position[1] against" in refusal(path, turned)
    assert "period 0.01 s against 0.02 s" in refusal(path, dataclasses.replace(cartpole, period_s=0.01))


@pytest.mark.parametrize("lead", [[], [1], ["batch"]])
def test_a_users_own_file_gets_all_measurements_in_the_order_of_the_interface(cartpole, foreign, lead):
    path = foreign(LINEAR, {"obs": [*lead, 2]}, {"act": [*lead, 1]}, w=WEIGHTS)
    assert first_command(load_onnx_policy(path, cartpole)) == pytest.approx(0.25 + 10 * 0.5)


def test_a_file_of_several_commands_is_cut_into_channels(cartpole, foreign):
    two = (Channel("left", width=2), Channel("right"))
    path = foreign(LINEAR, {"obs": [1, 2]}, {"act": [1, 3]}, w=np.array([[1, 2, 3], [0, 0, 0]], np.float32))
    policy = load_onnx_policy(path, dataclasses.replace(cartpole, commands=two))
    seen: Signals = {"pole.angle": np.zeros(1), "cart.position": np.ones(1)}
    _, sent = policy.step({}, policy.init(KEY), seen, 0.0, KEY)
    assert {name: v.tolist() for name, v in sent.items()} == {"left": [1.0, 2.0], "right": [3.0]}


@pytest.mark.parametrize("names", [("h", "h_out"), ("h", "next_h"), ("h_in", "h_out"), ("before", "after")])
def test_a_recurrent_file_remembers(cartpole, foreign, names):
    # The memory comes first and counts steps; the command is the linear part plus the count.
    before, after = names
    nodes = [
        helper.make_node("Add", [before, "one"], [after]),
        helper.make_node("MatMul", ["obs", "w"], ["now"]),
        helper.make_node("ReduceMax", [after], ["count"], keepdims=0),
        helper.make_node("Add", ["now", "count"], ["act"]),
    ]
    inputs, outputs = {before: [1, "n", 4], "obs": [1, 2]}, {after: [1, "n", 4], "act": [1, 1]}
    policy = load_onnx_policy(foreign(nodes, inputs, outputs, w=WEIGHTS, one=np.ones(4, np.float32)), cartpole)
    memory, sent = policy.init(KEY), []
    for _ in range(3):
        memory, found = policy.step({}, memory, {"pole.angle": np.zeros(1), "cart.position": np.zeros(1)}, 0.0, KEY)
        sent.append(float(found["motor"][0]))
    assert sent == [1.0, 2.0, 3.0]


def test_an_onnx_policy_runs_a_robot(cartpole, foreign):
    path = foreign(LINEAR, {"obs": [2]}, {"act": [1]}, w=WEIGHTS)
    log = record(Resting(cartpole), load_onnx_policy(path, cartpole), 0.1, 0, KEY)
    assert log.commands["motor"] == pytest.approx(np.full((6, 1), 5.25))


def test_wrong_widths_say_what_was_found_and_what_is_expected(cartpole, foreign):
    path = foreign(LINEAR, {"obs": [1, 5]}, {"act": [1, 1]}, w=np.ones((5, 1), np.float32))
    said = refusal(path, cartpole)
    assert "in goes obs[1, 5] float32, out comes act[1, 1] float32" in said
    assert "one float input of width 2 (cart.position[1], pole.angle[1])" in said
    path = foreign(LINEAR, {"obs": [1, 2]}, {"act": [1, 2]}, w=np.ones((2, 2), np.float32))
    assert "one float output of width 1 (motor[1])" in refusal(path, cartpole)
    path = foreign(LINEAR, {"obs": [1, 2], "more": [3]}, {"act": [1, 1]}, w=WEIGHTS)
    assert "in goes obs[1, 2] float32, more[3] float32" in refusal(path, cartpole)


def test_damaged_files_are_refused(cartpole, lively, tmp_path):
    path = tmp_path / "policy.onnx"
    assert "there is no file" in refusal(path, cartpole)
    export_policy(lively(cartpole), path)
    whole = path.read_bytes()
    for content in (b"", b"MZ garbage " * 99, whole[: len(whole) // 2], whole[: len(whole) // 4] + whole[-999:]):
        path.write_bytes(content)
        assert "cannot be run by onnxruntime" in refusal(path, cartpole)


def test_forged_metadata_is_refused(cartpole, foreign):
    path = foreign(LINEAR, {"obs": [1, 2]}, {"act": [1, 1]}, w=WEIGHTS)
    model = onnx.load_model(path)
    told = {"gapless.format": "1", "gapless.interface": "[" * 100_000}
    for text in (told["gapless.interface"], '{"robot": 1}', "null"):
        helper.set_model_props(model, told | {"gapless.interface": text})
        path.write_bytes(model.SerializeToString())
        assert "was written by Gapless but cannot be understood" in refusal(path, cartpole)


def test_huge_files_are_refused_without_being_read(cartpole, tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_in, "LARGEST", 1000)
    path = tmp_path / "policy.onnx"
    path.write_bytes(bytes(1001))
    assert "has more than 1000 bytes" in refusal(path, cartpole)


def test_a_file_that_reaches_outside_itself_is_refused(cartpole, foreign):
    outside = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 1], data_location=TensorProto.EXTERNAL)
    outside.external_data.add(key="location", value="../../etc/passwd")
    path = foreign(LINEAR, {"obs": [1, 2]}, {"act": [1, 1]}, w=outside)
    assert "contains weights in another file" in refusal(path, cartpole)
    custom = [helper.make_node("Inverse", ["obs"], ["act"], domain="com.microsoft")]
    path = foreign(custom, {"obs": [1, 2]}, {"act": [1, 1]})
    assert "contains the operator com.microsoft.Inverse, which is not a standard one" in refusal(path, cartpole)


def test_a_file_that_would_never_end_or_eat_all_memory_is_refused(cartpole, foreign):
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Identity", ["x"], ["y"])],
        "body",
        [
            helper.make_tensor_value_info(n, t, s)
            for n, t, s in (("k", 7, []), ("go", 9, []), ("x", 1, [1, 1]))  # int64, bool, float
        ],
        [helper.make_tensor_value_info("on", 9, []), helper.make_tensor_value_info("y", 1, [1, 1])],
    )
    nodes = [
        helper.make_node("MatMul", ["obs", "w"], ["z"]),
        helper.make_node("Loop", ["most", "yes", "z"], ["act"], body=body),
    ]
    shapes = {"obs": [1, 2]}, {"act": [1, 1]}
    path = foreign(nodes, *shapes, w=WEIGHTS, most=np.int64(2**62), yes=np.bool_(True))
    assert "contains a Loop, for which no time can be guaranteed" in refusal(path, cartpole)
    bomb = [
        helper.make_node("ConstantOfShape", ["size"], ["many"]),
        helper.make_node("ReduceMax", ["many"], ["largest"], keepdims=0),
        helper.make_node("MatMul", ["obs", "w"], ["z"]),
        helper.make_node("Add", ["z", "largest"], ["act"]),
    ]
    path = foreign(bomb, *shapes, w=WEIGHTS, size=np.array([2**33]))
    assert "Failed to allocate memory" in refusal(path, cartpole)
