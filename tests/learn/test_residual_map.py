"""Residual maps: they show an effect that the model lacks over the signals it follows, and pale where nothing is left."""

from collections.abc import Callable

import numpy as np

from gapless.core import Log, Point
from gapless.learn.residual_map import FINEST, residual_maps
from gapless.simulators import MujocoSimulator

Collect = Callable[..., list[Log]]


def belief_of(params: dict[str, float]) -> Point:
    return Point(tuple(params), np.array(list(params.values())))


def test_missing_damping_shows_as_an_error_that_opposes_the_rate(
    pendulum: MujocoSimulator, collect: Collect, hidden: dict[str, float]
) -> None:
    without = belief_of(hidden | {"hinge.damping": 0.0})
    (found,) = residual_maps(pendulum, without, collect(2, seconds=5.0))
    assert "rate of hinge.position" in (found.x["name"], found.y["name"])
    assert found.size > 2 * found.noise
    assert found.follows > 0.5
    cells = np.array(found.mean, dtype=float)  # None becomes nan
    along = cells if found.y["name"] == "rate of hinge.position" else cells.T
    assert np.nanmean(along[: len(along) // 3]) > 0 > np.nanmean(along[-(len(along) // 3) :])


def test_map_of_a_right_model_holds_noise_and_nothing_else(
    pendulum: MujocoSimulator, collect: Collect, hidden: dict[str, float]
) -> None:
    (found,) = residual_maps(pendulum, belief_of(hidden), collect(2, seconds=5.0))
    assert 0.6 * found.noise < found.size < 1.6 * found.noise
    assert found.follows < 0.2


def test_map_is_small_and_counts_its_samples(pendulum: MujocoSimulator, collect: Collect, hidden: dict[str, float]):
    (found,) = residual_maps(pendulum, belief_of(hidden), collect(3, seconds=6.0))
    assert len(found.mean) == len(found.mean[0]) <= FINEST
    means, counts = np.array(found.mean, dtype=float), np.array(found.count)
    assert np.array_equal(np.isnan(means), counts == 0)
    assert counts.sum() > 200


def test_logs_too_short_for_a_prediction_have_no_map(
    pendulum: MujocoSimulator, collect: Collect, hidden: dict[str, float]
):
    assert residual_maps(pendulum, belief_of(hidden), collect(1, seconds=0.3)) == []
