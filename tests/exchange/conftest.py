"""A cart with a pole, an untrained policy for it whose commands fill their range, and hand-made ONNX files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from gapless.core import Channel, Interface, Observation
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.tasks import SwingUp

MOTOR = Channel("motor", unit="V", low=-10.0, high=10.0)
MEASURED = (Channel("cart.position", unit="m"), Channel("pole.angle", unit="rad"))

USUAL = Shape((16, 2))


@pytest.fixture(scope="session")
def cartpole() -> Interface:
    return Interface("cartpole", 0.02, (MOTOR,), MEASURED, ("slider", "hinge"))


@pytest.fixture(scope="session")
def lively() -> Callable[..., NetworkPolicy]:
    def make(interface: Interface, observe: Observation = SwingUp.observe, shape: Shape = USUAL) -> NetworkPolicy:
        """A policy with random weights and normalisation; filled in by hand, which compiles nothing."""
        noise = np.random.default_rng(3)
        shapes = eqx.filter_eval_shape(lambda key: new_policy(interface, observe, shape, key), jax.random.key(0))
        policy = jax.tree.map(lambda x: _filled(x, noise), shapes)
        return eqx.tree_at(
            lambda p: p.scale, policy, jnp.asarray(noise.uniform(0.1, 0.5, policy.scale.shape), jnp.float32)
        )

    return make


def _filled(leaf: Any, noise: np.random.Generator) -> Any:
    if not isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    return jnp.asarray(noise.normal(size=leaf.shape) / np.sqrt(leaf.shape[-1]), jnp.float32)


@pytest.fixture
def foreign(tmp_path: Path) -> Callable[..., Path]:
    def write(nodes: list[Any], inputs: dict[str, Any], outputs: dict[str, Any], **constants: Any) -> Path:
        """An ONNX file of these nodes, float32 inputs and outputs of these shapes, and these constants."""
        sides = [
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in side.items()]
            for side in (inputs, outputs)
        ]
        held = [
            v if isinstance(v, onnx.TensorProto) else numpy_helper.from_array(np.asarray(v), n)
            for n, v in constants.items()
        ]
        graph = helper.make_graph(nodes, "foreign", sides[0], sides[1], held)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        path = tmp_path / "foreign.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    return write
