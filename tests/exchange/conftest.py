"""A cart with a pole, a task that it learns in seconds, an untrained policy whose commands fill their range, and hand-made ONNX
files."""

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

from gapless import robots
from gapless.core import Channel, Feature, Interface, Log, Observation, Signals, Simulator, Task, Uniform, Verdict
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.simulators import JaxCartpole, MujocoSimulator, load_model
from gapless.tasks import SwingUp

MOTOR = Channel("motor", unit="V", low=-10.0, high=10.0)
MEASURED = (Channel("cart.position", unit="m"), Channel("pole.angle", unit="rad"))

USUAL = Shape((16, 2))


@pytest.fixture(scope="session")
def cartpole() -> Interface:
    return Interface("cartpole", 0.02, (MOTOR,), MEASURED, ("slider", "hinge"))


class Mirror(Task):
    """Volts pay while they have the sign of the pole's angle, and cost while they have the other."""

    name = "mirror"
    seconds = 0.16
    commands = (Channel("motor"),)
    measurements = (Channel("cart.position"), Channel("pole.angle"))
    observe = Observation((Feature("pole.angle", "sin"), Feature("pole.angle", "angle_rate")), frames=2, commands=2)

    def start(self, key: Any, n: int) -> Signals:
        return {"hinge.position": jax.random.uniform(key, (n, 1), minval=-1.0, maxval=1.0)}

    def explore(self, key: Any, n: int) -> Signals:
        return {**self.start(key, n), "slider.position": jnp.full((n, 1), 0.2)}

    def reward(self, before: Signals, command: Signals, after: Signals) -> Any:
        return command["motor"][..., 0] / 10 * jnp.sign(before["pole.angle"][..., 0])

    def finished(self, measurement: Signals) -> Any:
        return jnp.abs(measurement["cart.position"][..., 0]) > 0.25

    def judge(self, log: Log) -> Verdict:
        return Verdict(True, 1.0, "mirrored")


@pytest.fixture(scope="session")
def mirror() -> Mirror:
    return Mirror()


@pytest.fixture(scope="session")
def quiet() -> Uniform:
    """Poles of 0.1 to 0.2 kg, and sensors without noise."""
    names = ("pole.mass", "cart.position.noise", "pole.angle.noise")
    return Uniform(names, np.array([0.1, 0.0, 0.0]), np.array([0.2, 0.0, 0.0]))


@pytest.fixture(params=["stepped from Python", "compiled"])
def either_kind(request: pytest.FixtureRequest, traced_cartpole: JaxCartpole) -> Simulator:
    """The cart-pole in MuJoCo and in JAX."""
    known = traced_cartpole.interface, traced_cartpole.parameters
    if request.param == "compiled":
        return traced_cartpole
    return MujocoSimulator(load_model(Path(robots.__file__).parent / "models" / "cartpole.xml"), *known)


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
