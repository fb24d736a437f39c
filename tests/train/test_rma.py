"""Rapid motor adaptation: the loss by hand, a base that stays as it is, and a guess that finds what the base was told."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.core import GaplessError
from gapless.nets.latent import HISTORY, LATENT
from gapless.nets.policy import NetworkPolicy, Shape, new_policy
from gapless.train import Look, Place, Rma
from gapless.train.rma import guess_of, missed

KEY = jax.random.key(0)
SMALL = Rma(worlds=32, steps=20, budget=32 * 20 * 50)


def knowing(place: Place) -> NetworkPolicy:
    """A base that needs no training: its latent is the sign of the tilt, and it pulls that way."""
    shape = Shape((16, 0), "encoded", ("gravity.tilt_x",))
    policy = new_policy(place.simulator.interface, place.task.observe, shape, KEY)
    network = policy.network
    first, last = network.encoder.layers  # type: ignore[union-attr]
    sign = jnp.zeros_like(first.weight).at[0].set(30.0), jnp.zeros_like(last.weight).at[0, 0].set(3.0)
    trunk = jnp.zeros((1, 1 + LATENT)).at[0, 1].set(3.0)
    values = (*sign, jnp.zeros_like(first.bias), jnp.zeros_like(last.bias), trunk, jnp.zeros(1))

    def places(p: NetworkPolicy) -> list:
        encoder, out = p.network.encoder.layers, p.network.trunk.layers[0]  # type: ignore[union-attr]
        return [encoder[0].weight, encoder[1].weight, encoder[0].bias, encoder[1].bias, out.weight, out.bias]

    policy = eqx.tree_at(places, policy, list(values))
    return eqx.tree_at(lambda p: p.scale, policy, jnp.array([5.0, 1.0]))  # as if 0.2 m were usual


def bits(tree: object) -> list[bytes]:
    return [np.asarray(x).tobytes() for x in jax.tree.leaves(eqx.filter(tree, eqx.is_array))]


def test_the_loss_is_the_mean_square_between_both_latents() -> None:
    guess = eqx.nn.MLP(2, 2, 1, 0, key=KEY)
    guess = eqx.tree_at(lambda n: (n.layers[0].weight, n.layers[0].bias), guess, (jnp.eye(2), jnp.zeros(2)))
    rows = jnp.array([[[0.0, jnp.arctanh(0.5)]], [[0.0, 0.0]]])
    # Guessed are (0, 0.5) and (0, 0), encoded (1, −0.5) and (0, 2): squares 1, 1, 0 and 4 of four.
    assert float(missed(guess, rows, jnp.array([[1.0, -0.5], [0.0, 2.0]]))) == pytest.approx(6 / 4)


def test_what_is_told_decides_through_the_latent(leaning: Place) -> None:
    base, seen = knowing(leaning), {"cart.position": jnp.zeros(1)}
    sent = [
        float(base.step({"gravity.tilt_x": jnp.asarray(g)}, base.init(KEY), seen, 0.02, KEY)[1]["motor"][0])
        for g in (1.0, -1.0, -1.0)
    ]
    assert sent[0] == -sent[1] > 9
    assert sent[1] == sent[2]
    assert base.network.latent(jnp.array([1.0]))[0] == pytest.approx(np.tanh(3 * np.tanh(30.0)))  # type: ignore[union-attr]


def test_the_guess_finds_what_the_base_was_told_and_leaves_the_base_alone(leaning: Place) -> None:
    base, look = knowing(leaning), Look(*leaning[:3], 64, KEY)
    run = SMALL.adapted(leaning, base, KEY)
    shared, begun = bits(base), bits(guess_of(run.policy))
    for key in jax.random.split(jax.random.key(1), 50):
        run.iterate(key)
    policy = run.policy
    assert bits(run.learner.base) == shared
    assert bits(policy.network.trunk) == bits(base.network.trunk)  # type: ignore[union-attr]
    assert bits((policy.shift, policy.scale)) == bits((base.shift[:1], base.scale[:1]))
    assert bits(guess_of(policy)) != begun
    assert not policy.told
    assert look.at(policy)[0] > 0.75 * look.at(base)[0]


def test_a_guess_looks_back_on_what_was_seen_and_sent(leaning: Place) -> None:
    policy = SMALL.adapted(leaning, knowing(leaning), KEY).policy
    memory, sent = policy.init(KEY), []
    for k in range(3):
        memory, command = policy.step({}, memory, {"cart.position": jnp.full(1, 0.02 * (k + 1))}, 0.02, KEY)
        sent.append(float(command["motor"][0]) / 10)
    rows = np.asarray(memory["hidden"]["rows"])
    assert rows.shape == (HISTORY, 3)
    # Newest first, five to the metre, each beside the command before it; the first one fills all that was before.
    assert rows[:3, 0] == pytest.approx([0.3, 0.2, 0.1], rel=1e-4)
    assert rows[:3, 1] == pytest.approx([sent[1], sent[0], 0.0])
    assert (rows[3:, :2] == rows[2, :2]).all()
    assert rows[:3, 2].all() and not rows[3:, 2].any()


def test_a_base_without_a_latent_is_refused(leaning: Place) -> None:
    plain = new_policy(leaning.simulator.interface, leaning.task.observe, Shape((4, 1)), KEY)
    with pytest.raises(GaplessError, match="acts on a latent"):
        SMALL.adapted(leaning, plain, KEY)
