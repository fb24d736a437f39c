"""Passes over a batch: every epoch sees all rows in an order of its own, and steps are Adam's, whatever lies in one row."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from gapless.train import Ppo
from gapless.train.descent import ADAM, Stride, descend, orders
from gapless.train.in_row import InRow


@pytest.mark.parametrize("count", [1, 12, 96, 2**17])
def test_every_epoch_has_all_rows(count: int) -> None:
    minibatches = 1 if count == 1 else 4
    pieces = np.asarray(orders(count, 3, minibatches, jax.random.key(0)))
    assert pieces.shape == (3 * minibatches, count // minibatches)
    assert (np.sort(pieces.reshape(3, -1)) == np.arange(count)).all()


def test_rows_that_meet_in_one_epoch_seldom_meet_in_the_next() -> None:
    pieces = np.asarray(orders(4096, 2, 8, jax.random.key(0))).reshape(2, 8, -1)
    met = [len(set(first) & set(second)) for first in pieces[0] for second in pieces[1]]
    assert max(met) < 4 * 512 / 8


def test_neighbours_of_a_batch_are_spread_over_its_pieces() -> None:
    pieces = np.asarray(orders(4096, 1, 8, jax.random.key(0)))
    where = np.argsort(pieces.ravel()) // 512
    assert np.mean(where[1:] == where[:-1]) == pytest.approx(1 / 8, abs=0.03)


def test_what_has_the_structure_lies_in_one_row_and_comes_back() -> None:
    trained = {"a": jnp.array([[1.0, 2.0]]), "b": (jnp.array(3.0), "a name")}
    row = InRow(trained)
    assert row.flat(trained).tolist() == [1.0, 2.0, 3.0]
    back = row.shaped(jnp.array([4.0, 5.0, 6.0]))
    assert (back["a"].tolist(), float(back["b"][0]), back["b"][1]) == ([[4.0, 5.0]], 6.0, "a name")
    state = (jnp.array(7), {"a": jnp.zeros((1, 2)), "b": (jnp.array(1.0), None)})
    flat = row.flat(state)
    assert (int(flat[0]), flat[1].tolist()) == (7, [0.0, 0.0, 1.0])
    assert jax.tree.structure(row.restored(flat, state)) == jax.tree.structure(state)


def test_a_step_is_adams_and_what_is_held_stays() -> None:
    recipe, trained = Ppo(worlds=2, steps=2, epochs=1, minibatches=1), (jnp.array([1.0, -2.0]), jnp.array(3.0))
    begun = ADAM.init(trained)
    stride = Stride(begun, jnp.array(0.1), jnp.array(0.0), (1.0, False))

    def loss(trained: tuple, rows: jax.Array) -> tuple:
        return (trained[0] ** 2).sum() * rows.mean() + trained[1], jnp.array(0.05)

    moved, after, kl = descend(recipe, loss, trained, stride, jnp.ones(4), jnp.arange(4)[None])
    # Gradients of (2, −4) and 1, cut to a length of a half; Adam's first step is their sign.
    assert np.asarray(moved[0]) == pytest.approx([0.9, -1.9], abs=1e-4)
    assert float(moved[1]) == 3.0
    assert float(kl) == pytest.approx(0.05)
    expected = ADAM.update((jnp.array([2.0, -4.0]), jnp.array(1.0)), begun)[1]
    for one, other in zip(jax.tree.leaves(after["optimizer"]), jax.tree.leaves(expected), strict=True):
        assert np.asarray(one) == pytest.approx(np.asarray(other))
    assert isinstance(after["optimizer"][1], optax.ScaleByAdamState)
