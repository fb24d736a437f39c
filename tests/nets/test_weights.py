"""Weights and policies come back from disk exactly as they were, or with one sentence about why not."""

import functools
import json

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError, Interface
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.stored_policy import load_policy, save_policy
from gapless.nets.weights import load_weights, save_weights
from gapless.tasks import SwingUp


class Mixed(eqx.Module):
    """Every sort of leaf that a module may have."""

    layer: eqx.nn.Linear
    by_channel: dict[str, jax.Array]
    table: np.ndarray
    count: jax.Array
    empty: jax.Array
    label: str = eqx.field(static=True)
    rate: float = 0.5


def mixed(seed: int) -> Mixed:
    keys = jax.random.split(jax.random.key(seed), 2)
    odd = np.array([[np.nan, -0.0], [np.inf, 5e-324]]).T * (1 + seed)  # not contiguous
    by_channel = {"pole.angle": jax.random.normal(keys[1], (2,)), "pole": jnp.asarray(seed, jnp.int8)}
    return Mixed(eqx.nn.Linear(3, 2, key=keys[0]), by_channel, odd, jnp.asarray(seed), jnp.zeros((0, 3)), "mixed")


@functools.cache
def policy(seed: int = 0) -> NetworkPolicy:
    interface = Interface("cartpole", 0.02, SwingUp.commands, SwingUp.measurements, ("slider", "hinge"))
    noise = np.random.default_rng(seed)
    shapes = eqx.filter_eval_shape(
        lambda key: new_policy(interface, SwingUp.observe, Shape((8, 2)), key), jax.random.key(0)
    )
    arrays, rest = eqx.partition(shapes, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    return eqx.combine(jax.tree.map(lambda x: jnp.asarray(noise.normal(size=x.shape), x.dtype), arrays), rest)


def linear(inputs: int, use_bias: bool = True) -> eqx.nn.Linear:
    """Weights that are mere shapes, which is all that loading needs."""
    return eqx.filter_eval_shape(lambda key: eqx.nn.Linear(inputs, 2, use_bias, key=key), jax.random.key(0))


def bits(module: eqx.Module) -> list[bytes]:
    return [np.asarray(x).tobytes() for x in jax.tree.leaves(module) if eqx.is_array_like(x)]


def test_weights_come_back_to_the_last_bit(tmp_path):
    path = tmp_path / "mixed.safetensors"
    save_weights(path, mixed(3))
    loaded = load_weights(path, mixed(4))
    assert bits(loaded) == bits(mixed(3)) != bits(mixed(4))
    assert isinstance(loaded.table, np.ndarray) and loaded.table.dtype == np.float64 and loaded.table.flags.writeable
    assert isinstance(loaded.count, jax.Array)


def test_the_same_weights_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        save_weights(tmp_path / name, mixed(3))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


def test_weights_of_another_network_are_named(tmp_path):
    path = tmp_path / "linear.safetensors"
    save_weights(path, jax.tree.map(lambda x: np.ones(x.shape, x.dtype), linear(3)))
    with pytest.raises(GaplessError, match=r"'weight' is float32\[2, 3\] where float32\[2, 4\] is expected"):
        load_weights(path, linear(4))
    with pytest.raises(GaplessError, match="it has 'bias', for which there is no place"):
        load_weights(path, linear(3, use_bias=False))
    with pytest.raises(GaplessError, match=r"it has no 'layers\[0\].weight'"):
        load_weights(path, policy().network)
    half = jax.tree.map(lambda x: np.zeros(x.shape, np.float16), linear(3))
    with pytest.raises(GaplessError, match=r"'weight' is float32\[2, 3\] where float16\[2, 3\] is expected"):
        load_weights(path, half)


def test_damaged_weights_are_refused(tmp_path):
    path, like = tmp_path / "linear.safetensors", linear(3)
    with pytest.raises(GaplessError, match="there is no file"):
        load_weights(path, like)
    save_weights(path, jax.tree.map(lambda x: np.ones(x.shape, x.dtype), like))
    whole = path.read_bytes()
    for content in (b"", b"garbage", whole[:-1], whole + b"x", b"\xff" * 8 + whole[8:], whole.replace(b"F32", b"F99")):
        path.write_bytes(content)
        with pytest.raises(GaplessError, match="cannot be read as safetensors"):
            load_weights(path, like)
    with path.open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(GaplessError, match="has more than"):
        load_weights(path, like)


def test_a_dtype_that_is_not_stored_is_named(tmp_path):
    with pytest.raises(GaplessError, match="'value' has dtype bfloat16"):
        save_weights(tmp_path / "odd", jnp.zeros(2, jnp.bfloat16))
    with pytest.raises(GaplessError, match=r"\"\['key'\]\" has dtype key<fry>"):
        save_weights(tmp_path / "odd", {"key": jax.random.key(0)})


def test_a_policy_comes_back_with_its_interface_and_acts_the_same(tmp_path):
    save_policy(tmp_path / "a", policy())
    save_policy(tmp_path / "b", policy())
    loaded = load_policy(tmp_path / "a")
    assert eqx.tree_equal(loaded, policy())
    assert (loaded.interface, loaded.observe) == (policy().interface, policy().observe)
    names = ["policy.json", "policy.safetensors"]
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == names
    assert all((tmp_path / "a" / n).read_bytes() == (tmp_path / "b" / n).read_bytes() for n in names)
    save_policy(tmp_path / "c", loaded)
    assert all((tmp_path / "a" / n).read_bytes() == (tmp_path / "c" / n).read_bytes() for n in names)


def test_mixed_up_or_damaged_policies_are_refused(tmp_path):
    save_policy(tmp_path / "a", policy(0))
    save_policy(tmp_path / "b", policy(1))
    (tmp_path / "b" / "policy.safetensors").replace(tmp_path / "a" / "policy.safetensors")
    with pytest.raises(GaplessError, match="is damaged or belongs to another"):
        load_policy(tmp_path / "a")
    with pytest.raises(GaplessError, match="there is no file"):
        load_policy(tmp_path / "b")
    path = tmp_path / "a" / "policy.json"
    known = json.loads(path.read_text())
    hidden = {"width": 10**9, "depth": 2}
    for text in (
        "",
        "[]",
        "{}",
        "[" * 99_999,
        json.dumps(known | {"format": 2}),
        json.dumps(known | {"hidden": hidden}),
    ):
        path.write_text(text)
        with pytest.raises(GaplessError, match="is not the description of a policy"):
            load_policy(tmp_path / "a")


def test_a_network_that_cannot_be_rebuilt_is_not_stored(tmp_path):
    other = eqx.tree_at(lambda p: p.network.activation, policy(), jax.nn.relu)
    with pytest.raises(GaplessError, match="such as tanh layers with biases"):
        save_policy(tmp_path, other)
    assert list(tmp_path.iterdir()) == []
