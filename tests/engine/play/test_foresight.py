"""A scene left alone: Box2D's motion and every member's begin at the same place and fall alike."""

from collections.abc import Callable

import numpy as np
import pytest

from gapless.engine.play import DT_S, foresight, happening
from gapless.simulators.planar.scenes import Scenes, draw


def test_body_that_meets_nothing_falls_alike_in_all_worlds(make_members: Callable):
    scene, motion = draw(Scenes(bodies=(1, 1), speed=0.0), np.random.default_rng(0))
    truth = happening(scene, motion, 6, DT_S)
    futures = foresight(make_members(2), scene, motion, 6, DT_S)
    assert np.asarray(futures.position).shape == (2, *truth.position.shape)
    fallen = truth.position[0, 0, 1] - truth.position[:, 0, 1]
    assert fallen == pytest.approx(9.81 * DT_S**2 * np.array([0, 1, 3, 6, 10, 15, 21]), abs=1e-5)
    assert np.asarray(futures.position)[:, :, 0] == pytest.approx(np.stack([truth.position[:, 0]] * 2), abs=1e-5)
