"""An exported policy gives the commands that it gives in JAX, says what it is for, and appears whole or not at all."""

import json
import math
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import onnx
import onnxruntime
import pytest

import gapless
from gapless.core import Channel, Feature, GaplessError, Interface, Observation, Signals
from gapless.exchange import export_policy, load_onnx_policy
from gapless.exchange.onnx_policy import onnx_bytes
from gapless.nets.policy import Shape, new_policy

KEY = jax.random.key(0)


def spinning(steps: int) -> list[Signals]:
    """A cart that swings while its pole spins ever faster, through the seam at ±π in both directions."""
    t = np.arange(steps) * 0.02
    turned = 6 * t**2 * np.sign(np.sin(5 * t)) + 3.0
    angle = np.angle(np.exp(1j * turned))
    return [
        {"cart.position": np.array([0.3 * math.sin(4 * s)], np.float32), "pole.angle": np.array([a], np.float32)}
        for s, a in zip(t, angle, strict=True)
    ]


def test_an_exported_policy_gives_the_same_commands_over_fifty_steps(cartpole, lively, tmp_path):
    policy, path = lively(cartpole), tmp_path / "policy.onnx"
    assert export_policy(policy, path) < 1e-6
    exported = load_onnx_policy(path, cartpole)
    step = eqx.filter_jit(policy.step)
    mine, theirs, sent = policy.init(KEY), exported.init(KEY), []
    for seen in spinning(50):
        mine, wanted = step({}, mine, seen, 0.0, KEY)
        theirs, found = exported.step({}, theirs, seen, 0.0, KEY)
        sent.append(found["motor"])
        assert found["motor"].dtype == np.float64 and found["motor"].shape == (1,)
        assert found["motor"] == pytest.approx(np.asarray(wanted["motor"]), abs=2e-4)  # 1e-5 of the range
    assert np.ptp(sent) > 10  # or the agreement would say little


@pytest.mark.parametrize(
    "change", [0.0, 1e-4, 1.5, np.pi - 1e-3, np.pi, np.pi + 1e-3, 4.0, 2 * np.pi, -1.5, -np.pi, -4.0]
)
def test_the_rate_of_an_angle_agrees_on_both_sides_of_the_seam(cartpole, change):
    observe = Observation((Feature("pole.angle", "angle_rate"),), commands=0)
    policy = new_policy(cartpole, observe, Shape((1, 0)), KEY)
    # Without hidden layers and with weight 1, the command shows the rate itself: ±π / 0.02 s are ±0.157 before tanh.
    policy = eqx.tree_at(lambda p: p.network.layers[0].weight, policy, jnp.ones((1, 1)))
    policy = eqx.tree_at(lambda p: (p.network.layers[0].bias, p.scale), policy, (jnp.zeros(1), jnp.full(1, 1e-3)))
    session = onnxruntime.InferenceSession(onnx_bytes(policy), providers=["CPUExecutionProvider"])
    feeds = {"cart.position": np.zeros(1), "pole.angle": np.array([change]), "memory.begun": np.ones(1)}
    feeds |= {"memory.frames.pole.angle": np.zeros((2, 1))}
    (found,) = session.run(["motor"], {k: np.asarray(v, np.float32) for k, v in feeds.items()})
    turned = np.arctan2(np.sin(np.float32(change)), np.cos(np.float32(change)))
    assert found == pytest.approx(10 * np.tanh(turned / 0.02 * 1e-3), abs=1e-6)


def test_wide_channels_several_commands_and_unused_measurements_are_exported(lively, tmp_path):
    commands = (Channel("arm.torque", width=2, low=-3.0, high=1.0), Channel("grip", low=0.0, high=5.0))
    measured = (Channel("idle"), Channel("arm.angle", width=2, unit="rad"), Channel("arm.load", width=3))
    arm = Interface("arm", 0.01, commands, measured)
    features = (Feature("arm.angle", "sin"), Feature("arm.angle", "angle_rate"), Feature("arm.load", "rate"))
    for observe in (Observation(features, frames=3, commands=1), Observation((Feature("arm.load"),), commands=2)):
        path = tmp_path / "arm.onnx"
        assert export_policy(lively(arm, observe), path) < 1e-6
        exported = load_onnx_policy(path, arm)
        seen: Signals = {c.name: np.ones(c.width) for c in measured}
        _, found = exported.step({}, exported.init(KEY), seen, 0.0, KEY)
        assert {name: v.shape for name, v in found.items()} == {"arm.torque": (2,), "grip": (1,)}
        assert np.all(np.abs(found["arm.torque"] + 1) <= 2) and 0 <= found["grip"][0] <= 5


def test_the_file_says_what_it_is_for(cartpole, lively, tmp_path):
    policy, path = lively(cartpole), tmp_path / "policy.onnx"
    export_policy(policy, path, extra={"crank": 3, "return": np.float32(1.5)})
    model = onnx.load_model(path)
    onnx.checker.check_model(model, full_check=True)
    told = {p.key: p.value for p in model.metadata_props}
    assert Interface.from_dict(json.loads(told["gapless.interface"])) == cartpole
    assert Observation.from_dict(json.loads(told["gapless.observation"])) == policy.observe
    assert json.loads(told["gapless.extra"]) == {"crank": 3, "return": 1.5}
    assert told["gapless.version"] == gapless.__version__
    assert [i.name for i in model.graph.input][:2] == ["cart.position", "pole.angle"]


def test_the_same_policy_gives_the_same_bytes(cartpole, lively):
    assert onnx_bytes(lively(cartpole), {"b": 1, "a": 2}) == onnx_bytes(lively(cartpole), {"a": 2, "b": 1})


def test_a_policy_that_differs_leaves_no_file(cartpole, lively, tmp_path, monkeypatch):
    monkeypatch.setattr("gapless.exchange.onnx_graph.command_scale", lambda _: (np.zeros(1), np.full(1, 10.01)))
    with pytest.raises(GaplessError, match="was not written: in onnxruntime the commands differ by"):
        export_policy(lively(cartpole), tmp_path / "policy.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_policy_with_a_broken_weight_leaves_no_file(cartpole, lively, tmp_path):
    policy = eqx.tree_at(lambda p: p.shift, lively(cartpole), replace_fn=lambda s: s.at[0].set(jnp.nan))
    with pytest.raises(GaplessError, match="differ by nan"):
        export_policy(policy, tmp_path / "policy.onnx")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_exported_is_said(cartpole, lively, tmp_path):
    path = tmp_path / "policy.onnx"
    with pytest.raises(GaplessError, match="cannot be written as JSON"):
        export_policy(lively(cartpole), path, extra={"when": {1, 2}})
    taken = Interface("odd", 0.02, cartpole.commands, (Channel("memory.begun"),))
    with pytest.raises(GaplessError, match="Rename the channel"):
        export_policy(lively(taken, Observation((Feature("memory.begun"),))), path)
    other = eqx.tree_at(lambda p: p.network.activation, lively(cartpole), jax.nn.relu)
    with pytest.raises(GaplessError, match="such as tanh layers"):
        export_policy(other, path)
    with pytest.raises(GaplessError, match="cannot be written"):
        export_policy(lively(cartpole), Path(tmp_path, "nowhere", "policy.onnx"))
    assert list(tmp_path.iterdir()) == []
