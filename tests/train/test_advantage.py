"""Advantages worked out by hand: going on, running out of time, and a real end."""

import jax.numpy as jnp
import numpy as np
import pytest

from gapless.train.advantage import advantages

REWARD, VALUE, NEXT = [1.0, 2.0, 3.0], [0.5, 1.0, 1.5], [1.0, 1.5, 4.0]
GOES_ON, RUNS_OUT, ENDS = 0, 1, 2


def found() -> np.ndarray:
    """Three worlds alike in reward and value; in the second one time runs out at step 1, the third one ends there."""
    columns = [jnp.tile(jnp.array(x)[:, None], (1, 3)) for x in (REWARD, VALUE, NEXT)]
    finished = jnp.zeros((3, 3), bool).at[1, ENDS].set(True)
    cut = finished.at[1, RUNS_OUT].set(True)
    return np.asarray(advantages(*columns, finished, cut, 0.9, 0.5))


def test_an_episode_that_goes_on_sums_its_surprises() -> None:
    # Surprises 1 + 0.9·1 − 0.5 = 1.4, 2 + 0.9·1.5 − 1 = 2.35, 3 + 0.9·4 − 1.5 = 5.1, each later one worth 0.45.
    assert found()[:, GOES_ON] == pytest.approx([1.4 + 0.45 * (2.35 + 0.45 * 5.1), 2.35 + 0.45 * 5.1, 5.1])


def test_running_out_of_time_cuts_the_sum_but_not_the_value_of_what_comes() -> None:
    assert found()[:, RUNS_OUT] == pytest.approx([1.4 + 0.45 * 2.35, 2.35, 5.1])


def test_after_a_real_end_nothing_is_worth_anything() -> None:
    assert found()[:, ENDS] == pytest.approx([1.4 + 0.45 * 1.0, 2.0 - 1.0, 5.1])


def test_without_a_trace_an_advantage_is_one_surprise() -> None:
    columns = [jnp.array(x)[:, None] for x in (REWARD, VALUE, NEXT)]
    nowhere = jnp.zeros((3, 1), bool)
    assert np.asarray(advantages(*columns, nowhere, nowhere, 0.9, 0.0))[:, 0] == pytest.approx([1.4, 2.35, 5.1])
