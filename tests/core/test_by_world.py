"""Signals by channel and by world."""

import numpy as np

from gapless.core import by_world, stack, unstack


def test_masked_worlds_are_new_and_the_others_as_they_were() -> None:
    new = {"angle": np.ones((3, 2)), "age": np.array([7, 8, 9])}
    old = {"angle": np.zeros((3, 2)), "age": np.array([1, 2, 3])}
    found = by_world(np.array([True, False, True]), new, old)
    assert np.asarray(found["angle"]).tolist() == [[1, 1], [0, 0], [1, 1]]
    assert np.asarray(found["age"]).tolist() == [7, 2, 9]


def test_what_is_cut_into_channels_is_what_was_put_side_by_side() -> None:
    signals = {"hip": np.array([[1.0, 2.0]]), "knee": np.array([[3.0]])}
    assert stack(signals, ["knee", "hip"]).tolist() == [[3.0, 1.0, 2.0]]
    cut = unstack(stack(signals, ["hip", "knee"]), {"hip": 2, "knee": 1})
    assert all((cut[name] == signals[name]).all() for name in signals)
