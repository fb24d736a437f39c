"""A network from elsewhere becomes a whole policy: it sees what it saw in training and keeps to the limits."""

from pathlib import Path

import jax
import numpy as np
import pytest
from onnx import helper

from gapless.core import GaplessError, Interface
from gapless.exchange import bring_home, export_policy, load_onnx_policy
from gapless.exchange.onnx_policy import largest_difference
from gapless.nets.policy import NetworkPolicy
from gapless.tasks import SwingUp

KEY = jax.random.key(0)
SEEN = SwingUp.observe


def nodes_of(policy: NetworkPolicy) -> tuple[list, dict]:
    """The network of one of our policies as a learner from elsewhere would write it: observation in, command in ±1 out."""
    nodes, constants, x = [], {"shift": policy.shift, "scale": policy.scale, "low": -10.0, "high": 10.0}, "obs"
    for kind, *more in (("Sub", "shift"), ("Mul", "scale"), ("Clip", "low", "high")):
        nodes.append(helper.make_node(kind, [x, *more], [kind]))
        x = kind
    for k, layer in enumerate(policy.network.layers):
        constants |= {f"w{k}": np.asarray(layer.weight).T, f"b{k}": layer.bias}
        last = k == len(policy.network.layers) - 1
        nodes.append(helper.make_node("MatMul", [x, f"w{k}"], [f"m{k}"]))
        nodes.append(helper.make_node("Add", [f"m{k}", f"b{k}"], [f"a{k}"]))
        nodes.append(helper.make_node("Tanh", [f"a{k}"], ["act" if last else f"t{k}"]))
        x = f"t{k}"
    return nodes, {name: np.array(value, np.float32) for name, value in constants.items()}


@pytest.mark.parametrize("lead", [[], [1], ["batch"]])
def test_our_own_network_comes_home_as_the_policy_that_it_was(
    cartpole: Interface, lively, foreign, tmp_path: Path, lead: list
) -> None:
    policy = lively(cartpole)
    nodes, constants = nodes_of(policy)
    width = SEEN.width(cartpole)
    network = foreign(nodes, {"obs": [*lead, width]}, {"act": [*lead, 1]}, **constants)
    bring_home(network, tmp_path / "home.onnx", cartpole, SEEN)
    home = load_onnx_policy(tmp_path / "home.onnx", cartpole)
    assert largest_difference(policy, home) < 1e-6


def test_what_comes_home_has_the_ports_of_an_exported_policy(
    cartpole: Interface, lively, foreign, tmp_path: Path
) -> None:
    policy = lively(cartpole)
    nodes, constants = nodes_of(policy)
    network = foreign(nodes, {"obs": [1, SEEN.width(cartpole)]}, {"act": [1, 1]}, **constants)
    home = bring_home(network, tmp_path / "home.onnx", cartpole, SEEN)
    export_policy(policy, tmp_path / "own.onnx")
    assert home.wiring == load_onnx_policy(tmp_path / "own.onnx", cartpole).wiring


def test_commands_beyond_one_are_cut_off_at_the_limits(cartpole: Interface, foreign, tmp_path: Path) -> None:
    width = SEEN.width(cartpole)
    nodes = [helper.make_node("MatMul", ["obs", "w"], ["act"])]
    weights = np.zeros((width, 1), np.float32)
    weights[0] = 4.0  # the cart's position is what the policy sees first
    network = foreign(nodes, {"obs": [1, width]}, {"act": [1, 1]}, w=weights)
    home = bring_home(network, tmp_path / "home.onnx", cartpole, SEEN)
    for place, volts in ((0.1, 4.0), (0.9, 10.0), (-0.9, -10.0)):
        seen = {"cart.position": np.array([place]), "pole.angle": np.zeros(1)}
        _, sent = home.step({}, home.init(KEY), seen, 0.0, KEY)
        assert sent["motor"] == pytest.approx(volts)


def test_a_network_of_another_width_is_refused_and_leaves_no_file(cartpole: Interface, foreign, tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["obs", "w"], ["act"])]
    network = foreign(nodes, {"obs": [1, 2]}, {"act": [1, 1]}, w=np.ones((2, 1), np.float32))
    with pytest.raises(GaplessError, match=r"it has obs\[1, 2\] float32, .* one float32 input of width 13"):
        bring_home(network, tmp_path / "home.onnx", cartpole, SEEN)
    assert not (tmp_path / "home.onnx").exists()
