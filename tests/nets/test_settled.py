"""Policies that have been told params once and for all, or that guess them: they decide as those do that are told."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import Channel, Feature, GaplessError, Interface, Observation
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.nets.recall import Kind
from gapless.nets.settled import guessing, settled
from gapless.nets.stored_policy import load_policy, save_policy

KEY = jax.random.key(0)
INTERFACE = Interface("cart", 0.02, (Channel("motor", low=-10, high=10),), (Channel("angle"),))
OBSERVE = Observation((Feature("angle"), Feature("angle", "rate")))
TOLD = {"mass": jnp.asarray(0.7), "latency": jnp.asarray(-0.2), "other": jnp.asarray(5.0)}


def universal(kind: Kind) -> NetworkPolicy:
    """A policy that is told two params, with a normalisation and weights that matter."""
    made = new_policy(INTERFACE, OBSERVE, Shape((8, 2), kind, ("mass", "latency")), KEY)
    made = jax.tree.map(lambda x: x + 0.1 * jax.random.normal(KEY, x.shape) if eqx.is_array(x) else x, made)
    return made.with_eyes(jnp.array([0.1, -0.2, 0.0, 0.3, -0.1]), jnp.array([1.0, 2.0, 0.5, 3.0, 1.5]))


def sent(policy: NetworkPolicy, params: dict, angles: tuple[float, ...] = (0.1, -0.3, 0.4)) -> list[float]:
    memory, commands = policy.init(KEY), []
    step = eqx.filter_jit(lambda policy, memory, inputs: policy.step(params, memory, inputs, 0.02, KEY))
    for angle in angles:
        memory, command = step(policy, memory, {"angle": jnp.full(1, angle)})
        commands.append(float(command["motor"][0]))
    return commands


@pytest.mark.parametrize("kind", ["mlp", "encoded"])
def test_a_settled_policy_does_what_one_does_that_is_told(kind: Kind) -> None:
    policy = universal(kind)
    plain = settled(policy, TOLD)
    assert not plain.told
    assert sent(plain, {}) == pytest.approx(sent(policy, TOLD), abs=1e-4)
    assert sent(settled(policy, TOLD | {"mass": jnp.asarray(-0.7)}), {}) != pytest.approx(sent(plain, {}), abs=1e-3)


def test_a_settled_policy_is_stored_like_any_other(tmp_path: Path) -> None:
    plain = settled(universal("mlp"), TOLD)
    save_policy(tmp_path, plain)
    assert sent(load_policy(tmp_path), {}) == sent(plain, {})  # type: ignore[arg-type]


def test_a_policy_that_guesses_does_what_one_does_that_is_told_its_guess(tmp_path: Path) -> None:
    policy, middle, half = universal("mlp"), np.array([0.5, -0.1]), np.array([0.4, 0.2])
    blank = new_policy(INTERFACE, OBSERVE, Shape((8, 2), "adapting", latent=2), KEY)
    wise = guessing(blank, policy, jnp.asarray(middle), jnp.asarray(half))
    last = wise.network.guess.layers[-1]  # type: ignore[union-attr]
    # A guess that answers (0.5, −0.5) to everything: mass 0.5 + 0.4 / 2, latency −0.1 − 0.2 / 2.
    answers = jnp.zeros_like(last.weight), jnp.arctanh(jnp.array([0.5, -0.5]))
    wise = eqx.tree_at(lambda p: (p.network.guess.layers[-1].weight, p.network.guess.layers[-1].bias), wise, answers)
    assert sent(wise, {}) == pytest.approx(sent(policy, TOLD), abs=1e-4)
    save_policy(tmp_path, wise)
    assert sent(load_policy(tmp_path), {}) == sent(wise, {})  # type: ignore[arg-type]


def test_who_remembers_is_not_settled() -> None:
    with pytest.raises(GaplessError, match="finds out for itself"):
        settled(new_policy(INTERFACE, OBSERVE, Shape((8, 1), "gru", ("mass",)), KEY), TOLD)
