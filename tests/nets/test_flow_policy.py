"""Flow policies: noise goes where the field takes it, and comes back from disk to go there again."""

import json
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Interface, Signals
from gapless.exchange.onnx_policy import onnx_bytes
from gapless.nets.flow_policy import FlowPolicy, FlowShape, new_flow
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.tasks import SwingUp

SHAPE = FlowShape((4, 1), steps=4, noise=0.25)
SEEN: Signals = {"cart.position": jnp.array([0.1]), "pole.angle": jnp.array([1.0])}


@pytest.fixture
def flow() -> FlowPolicy:
    """A policy whose field answers to everything that it is given."""
    interface = Interface("cartpole", 0.02, SwingUp.commands, SwingUp.measurements, ("slider", "hinge"))
    policy = new_flow(interface, SwingUp.observe, SHAPE, jax.random.key(0))
    return eqx.tree_at(lambda p: p.network.layers[-1].weight, policy, replace_fn=lambda w: 40 * w)


def constant(policy: FlowPolicy, value: float) -> FlowPolicy:
    """The same policy with one velocity everywhere."""
    last = policy.network.layers[-1]
    still = jnp.zeros_like(last.weight), jnp.full(1, value)
    return eqx.tree_at(lambda p: (p.network.layers[-1].weight, p.network.layers[-1].bias), policy, still)


def sent(policy: FlowPolicy, seed: int) -> float:
    step = policy.step({}, policy.init(jax.random.key(0)), SEEN, 0.02, jax.random.key(seed))
    return float(step[1]["motor"][0])


def test_a_constant_field_moves_the_noise_by_itself_and_no_further_than_the_limit(flow: FlowPolicy) -> None:
    seen = jnp.zeros(len(flow.shift))
    assert float(constant(flow, 0.375).command(seen, jnp.array([-0.5]))[0]) == pytest.approx(-0.125)
    assert float(constant(flow, 9.0).command(seen, jnp.array([0.5]))[0]) == 1.0


def test_four_euler_steps_of_a_field_that_grows_with_the_command_are_worked_out_by_hand(flow: FlowPolicy) -> None:
    # One linear layer that hands on the command: dx/dt = x in four steps is (1 + 1/4)⁴, and not yet e.
    seen = jnp.zeros(len(flow.shift))
    linear = eqx.nn.MLP(len(seen) + 2, 1, 4, 0, key=jax.random.key(0))
    weight = jnp.zeros((1, len(seen) + 2)).at[0, len(seen)].set(1.0)
    linear = eqx.tree_at(lambda n: (n.layers[0].weight, n.layers[0].bias), linear, (weight, jnp.zeros(1)))
    grown = eqx.tree_at(lambda p: p.network, flow, linear).command(seen, jnp.array([0.1]))
    assert float(grown[0]) == pytest.approx(0.1 * 1.25**4, rel=1e-5)


def test_untrained_commands_are_the_noise_itself(flow: FlowPolicy) -> None:
    seen, keys = jnp.zeros(len(flow.shift)), jax.random.split(jax.random.key(0), 400)
    draws = np.asarray(jax.vmap(lambda key: constant(flow, 0.0).think({}, seen, key)[1])(keys))
    assert abs(draws.mean()) < 0.05 and draws.std() == pytest.approx(SHAPE.noise, rel=0.1)


def test_one_key_gives_one_command_and_zero_noise_the_same_whatever_the_key(flow: FlowPolicy) -> None:
    assert sent(flow, 0) == sent(flow, 0) != sent(flow, 1)
    calm = new_flow(flow.interface, flow.observe, FlowShape((4, 1), 4, 0.25, sampled=False), jax.random.key(0))
    calm = eqx.tree_at(lambda p: p.network, calm, flow.network)
    assert sent(calm, 0) == sent(calm, 1) != sent(flow, 0)


def test_a_stored_flow_comes_back_and_sends_the_same_commands(flow: FlowPolicy, tmp_path: Path) -> None:
    save_policy(tmp_path, flow)
    loaded = load_policy(tmp_path)
    assert isinstance(loaded, FlowPolicy) and eqx.tree_equal(loaded, flow)
    assert [sent(loaded, k) for k in range(3)] == [sent(flow, k) for k in range(3)]
    described = json.loads((tmp_path / "policy.json").read_text())
    assert (described["kind"], described["steps"], described["noise"], described["sampled"]) == ("flow", 4, 0.25, True)


@pytest.mark.parametrize(
    "change", [{"kind": "flood"}, {"steps": 0}, {"steps": 10**9}, {"noise": "much"}, {"sampled": 1}]
)
def test_a_flow_that_nobody_stored_is_refused(flow: FlowPolicy, tmp_path: Path, change: dict) -> None:
    save_policy(tmp_path, flow)
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(GaplessError, match="is not the description of a policy"):
        load_policy(tmp_path)


def test_a_flow_is_not_exported_and_one_sentence_says_so(flow: FlowPolicy) -> None:
    with pytest.raises(GaplessError, match="is a FlowPolicy, whose steps are not exported"):
        onnx_bytes(flow)
