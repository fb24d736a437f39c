"""Replay: a ring that forgets the oldest, and sums of rewards that stop where an episode does."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gapless.train.replay import Replay, Rows, followed, inserted, new_replay, sampled

DISCOUNT = 0.5


def rows(rewards: list[float], finished: tuple[int, ...] = (), fresh: tuple[int, ...] = ()) -> Rows:
    """One world's rows, each known by its reward, then by that and a half."""
    column = jnp.asarray(rewards)[:, None]
    ends, begins = (jnp.zeros((len(rewards), 1), bool).at[jnp.array(at, int), 0].set(True) for at in (finished, fresh))
    return Rows(column[..., None], column[..., None] / 10, column, column[..., None] + 0.5, ends, begins)


def filled(*batches: Rows, slots: int = 6) -> Replay:
    replay = new_replay(slots, 1, 1, 1)
    for batch in batches:
        replay = inserted(replay, batch)
    return replay


def test_the_ring_forgets_the_oldest() -> None:
    replay = filled(*(rows([3 * k + 1.0, 3 * k + 2.0, 3 * k + 3.0]) for k in range(3)))
    assert int(replay.filled) == 6
    found = followed(replay, jnp.arange(1, 7), jnp.zeros(6, int), 1, DISCOUNT)
    assert np.asarray(found.gained).tolist() == [9.0, 8.0, 7.0, 6.0, 5.0, 4.0]
    assert np.asarray(found.unit)[:, 0] == pytest.approx([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])


def test_only_what_was_remembered_is_sampled() -> None:
    found = sampled(filled(rows([1.0, 2.0, 3.0])), 200, 1, DISCOUNT, jax.random.key(0))
    assert sorted(set(np.asarray(found.gained).tolist())) == [1.0, 2.0, 3.0]


def test_rewards_are_summed_across_the_end_of_the_array() -> None:
    # The ring holds 7, 8, 9 in its first slots and 4, 5, 6 in its last: from 6 on, two more follow.
    replay = filled(*(rows([3 * k + 1.0, 3 * k + 2.0, 3 * k + 3.0]) for k in range(3)))
    found = followed(replay, jnp.array([4]), jnp.array([0]), 3, DISCOUNT)
    assert float(found.gained[0]) == 6 + 0.5 * 7 + 0.25 * 8
    assert (float(found.weight[0]), float(found.known_next[0, 0])) == (0.125, 8.5)


def test_the_newest_rows_look_ahead_as_far_as_there_is_something() -> None:
    found = followed(filled(rows([1.0, 2.0, 3.0])), jnp.array([1, 2]), jnp.zeros(2, int), 3, DISCOUNT)
    assert np.asarray(found.gained).tolist() == [3.0, 2 + 0.5 * 3]
    assert np.asarray(found.weight).tolist() == [0.5, 0.25]
    assert np.asarray(found.known_next)[:, 0].tolist() == [3.5, 3.5]


def test_a_sum_stops_where_time_ran_out_and_the_future_keeps_its_value() -> None:
    found = followed(filled(rows([1.0, 2.0, 4.0], fresh=(2,))), jnp.array([3]), jnp.array([0]), 3, DISCOUNT)
    assert float(found.gained[0]) == 1 + 0.5 * 2
    assert (float(found.weight[0]), float(found.known_next[0, 0])) == (0.25, 2.5)


def test_after_a_real_end_nothing_is_worth_anything() -> None:
    found = followed(
        filled(rows([1.0, 2.0, 4.0], finished=(1,), fresh=(2,))), jnp.array([3, 1]), jnp.zeros(2, int), 3, DISCOUNT
    )
    assert np.asarray(found.gained).tolist() == [2.0, 4.0]
    assert np.asarray(found.weight).tolist() == [0.0, 0.5]
